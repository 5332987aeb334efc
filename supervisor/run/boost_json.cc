// SPDX-License-Identifier: Apache-2.0
// Copyright The wardcase authors
// Boost.JSON is compiled here, once, from its headers: no library to link.
#include <boost/json/src.hpp>
