#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
"""The list of parts is SPDX 2.3 in JSON, whole, and names what the programs are really made of."""

import datetime
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import jsonschema

NOT_CHECKED = 77
TEXT = {"type": "string", "minLength": 1}
ID = {"type": "string", "pattern": "^SPDXRef-[A-Za-z0-9.-]+$"}


def closed(required, **optional):
    return {
        "type": "object", "properties": required | optional, "required": list(required), "additionalProperties": False,
    }


# What the specification asks for of the fields that we write (SPDX 2.3, clauses 6, 7 and 11).
PACKAGE = closed(
    {
        "SPDXID": ID, "name": TEXT, "versionInfo": TEXT, "downloadLocation": TEXT, "copyrightText": TEXT,
        "filesAnalyzed": {"const": False},
        "supplier": {"type": "string", "pattern": "^(NOASSERTION$|(Person|Organization): .)"},
        "licenseConcluded": TEXT, "licenseDeclared": TEXT,
    },
    homepage={"type": "string", "pattern": "^https?://"},
    sourceInfo=TEXT,
    primaryPackagePurpose={"enum": ["APPLICATION", "LIBRARY"]},
    externalRefs={"type": "array", "items": closed({
        "referenceCategory": {"const": "PACKAGE-MANAGER"}, "referenceType": {"const": "purl"},
        "referenceLocator": {"type": "string", "pattern": r"^pkg:deb/debian/[A-Za-z0-9.%-]+@[^+:~?]+\?arch=[a-z0-9]+$"},
    })},
)
RELATION = closed({
    "spdxElementId": ID, "relatedSpdxElement": ID,
    "relationshipType": {"enum": ["DESCRIBES", "STATIC_LINK", "DYNAMIC_LINK"]},
})
DOCUMENT = closed({
    "spdxVersion": {"const": "SPDX-2.3"},
    "dataLicense": {"const": "CC0-1.0"},
    "SPDXID": {"const": "SPDXRef-DOCUMENT"},
    "name": TEXT,
    "documentNamespace": {"type": "string", "pattern": "^https://[^#]+$"},
    "creationInfo": closed({
        "created": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$"},
        "creators": {"type": "array", "minItems": 1, "items": {"pattern": "^(Tool|Person|Organization): ."}},
    }),
    "hasExtractedLicensingInfos": {"type": "array", "items": closed({"licenseId": TEXT, "extractedText": TEXT})},
    "packages": {"type": "array", "minItems": 3, "items": PACKAGE},
    "relationships": {"type": "array", "minItems": 3, "items": RELATION},
})
OPERATORS = {"AND", "OR", "WITH"}
LICENSES = {
    "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "GCC-exception-3.1", "GPL-2.0-only", "GPL-3.0-or-later",
    "ISC", "LGPL-2.1-only", "LGPL-2.1-or-later", "MIT", "NOASSERTION",
}


def check(document, build):
    """Yields what is wrong."""
    for error in jsonschema.Draft202012Validator(DOCUMENT).iter_errors(document):
        yield f"{error.json_path}: {error.message}"
    ids = [package["SPDXID"] for package in document["packages"]]
    if len(ids) != len(set(ids)):
        yield "two packages have one id"
    named = set()
    for relation in document["relationships"]:
        named |= {relation["spdxElementId"], relation["relatedSpdxElement"]}
    for missing in named - set(ids) - {"SPDXRef-DOCUMENT"}:
        yield f"a relation names {missing}, which there is not"
    for unnamed in set(ids) - named:
        yield f"{unnamed} has no relation to anything"
    own = {each["licenseId"] for each in document["hasExtractedLicensingInfos"]}
    for package in document["packages"]:
        unknown = set(package["licenseDeclared"].split()) - OPERATORS - LICENSES - own
        if unknown:
            yield f"{package['name']}: {unknown} is no license of SPDX's list that we know"
        if package["licenseDeclared"] == "NOASSERTION":
            yield f"{package['name']}: packaging/sbom has no license for it"
    datetime.datetime.fromisoformat(document["creationInfo"]["created"].replace("Z", "+00:00"))
    yield from check_against_programs(document, build)


# A function that is in the program if the library is.
WITNESSES = {
    "seccomp_load": "libseccomp-dev", "cap_get_proc": "libcap-dev", "crypto_hash_sha256_init": "libsodium-dev", "__libc_start_main": "libc6-dev",
    "__cxa_throw": "libstdc++-12-dev", "sd_bus_open": "libsystemd-dev",
}


def check_against_programs(document, build):
    """Looked up in another way than packaging/sbom does: by the symbols of the program."""
    told = {(r["spdxElementId"], r["relationshipType"], r["relatedSpdxElement"]) for r in document["relationships"]}
    symbols = subprocess.run(["nm", build / "wardcase.debug"], check=True, stdout=subprocess.PIPE, text=True).stdout
    defined = set(re.findall(r" [TtWi] (\w+)$", symbols, re.MULTILINE))
    for symbol, package in WITNESSES.items():
        part = "SPDXRef-Debian-" + package.replace("+", "-")
        if (symbol in defined) != (("SPDXRef-wardcase", "STATIC_LINK", part) in told):
            yield f"{package}: {symbol} is {'' if symbol in defined else 'not '}in wardcase, and the list says otherwise"


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").absolute()
    if not shutil.which("dpkg-query"):
        print("there is no dpkg to ask")
        return NOT_CHECKED
    if not (build / "wardcase.map").exists():
        print(f"{build}/wardcase is not built")
        return NOT_CHECKED
    root = pathlib.Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([root / "packaging/sbom", build, scratch], check=True)
        document = json.loads((pathlib.Path(scratch) / "wardcase.spdx.json").read_text())
    wrong = list(check(document, build))
    for what in wrong:
        print(f"wardcase.spdx.json: {what}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
