# SPDX-License-Identifier: Apache-2.0
# Copyright The wardcase authors
#
# `make help` lists the targets. The release build is build/wardcase; other kinds
# (KIND=asan, clang or coverage) go to build/KIND. CXXFLAGS, LDFLAGS and the like
# are the user's and come last; what the project needs is in lower-case variables.

, := ,
KIND ?= release
out := build$(if $(filter-out release,$(KIND)),/$(KIND))
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBEXECDIR ?= $(PREFIX)/libexec/wardcase
MANDIR ?= $(PREFIX)/share/man
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR ?= $(PREFIX)/share/fish/vendor_completions.d
# systemd looks below /usr/local as well, but for files of another prefix.
UNITDIR ?= $(PREFIX)/lib/systemd/system
USERUNITDIR ?= $(PREFIX)/lib/systemd/user
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
STRIP ?= strip
ifneq ($(filter asan clang,$(KIND)),)
CC := clang
CXX := clang++
endif

supported = $(shell echo 'int x;' | $(CXX) -Werror $(1) -x c++ -c -o /dev/null - 2>&1 || echo no)
if_supported = $(foreach flag,$(1),$(if $(call supported,$(flag)),,$(flag)))

warnings := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast \
  $(if $(filter 1,$(WERROR)),-Werror)
hardening := -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 \
  $(call if_supported,-fcf-protection -fstack-clash-protection -ftrivial-auto-var-init=zero)
optimize := -O2
instrument :=
# The product is one static file; tests and instrumented kinds use the host's libraries.
link_product := -static-pie
# With clang, so that one build shows that it can, too, and serves for fuzzing.
ifeq ($(KIND),asan)
optimize := -O1 -fno-omit-frame-pointer
instrument := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
hardening := $(filter-out %FORTIFY_SOURCE %FORTIFY_SOURCE=2,$(hardening))
link_product := -pie
else ifeq ($(KIND),coverage)
optimize := -O0
instrument := --coverage
hardening := $(filter-out %FORTIFY_SOURCE %FORTIFY_SOURCE=2,$(hardening))
link_product := -pie
endif

compile = $(CXX) -std=c++20 $(optimize) -g -fPIE -ffunction-sections -fdata-sections -I. -MMD -MP \
  -ffile-prefix-map=$(CURDIR)=. $(warnings) $(hardening) $(instrument) $(CPPFLAGS) $(CXXFLAGS)
link = $(CXX) $(CXXFLAGS) $(instrument) \
  -Wl,--gc-sections,--as-needed,--build-id,-z,relro,-z,now,-z,noexecstack $(LDFLAGS)
libraries := -lseccomp -lcap -lsodium -lre2 -lboost_program_options
# The companion takes from the host what changes with it (libsystemd), and else starts quickly. Of libarchive,
# where it can be had so, only the format tar is linked, and none of what the shared one would bring along; what
# parts of it would need that are dropped again is there by libsystemd, and the linker is to look for it there.
static_archive := $(filter /%,$(shell $(CXX) -print-file-name=libarchive.a))
libraries_of_server := $(if $(filter -static-pie,$(link_product)),-Wl$(,)-Bstatic $(libraries) $(if $(static_archive),-larchive) -Wl$(,)-Bdynamic,$(libraries)) \
  $(if $(and $(static_archive),$(filter -static-pie,$(link_product))),,-larchive) -Wl$(,)--copy-dt-needed-entries -lsystemd -lprometheus-cpp-core

objects = $(patsubst %.cc,$(out)/obj/%.o,$(sort $(wildcard $(1))))
sys := $(call objects,sandbox/sys/*.cc)
shipped := $(sort $(wildcard policies/*.toml))
hooks := $(sort $(wildcard supervisor/languages/hooks/*))
shipped_languages := $(sort $(wildcard policies/languages/*.toml))
policies := $(call objects,policies/*.cc) $(addprefix $(out)/obj/policies/,shipped_policies.o shipped_languages.o)
embed := $(call objects,policies/embed/*.cc)
sandbox := $(call objects,sandbox/*.cc)
supervisor := $(call objects,supervisor/config/*.cc supervisor/run/*.cc supervisor/languages/*.cc supervisor/sessions/*.cc) \
  $(out)/obj/supervisor/agent/agent_messages.o $(out)/obj/supervisor/agent/worker_texts.o $(out)/obj/supervisor/languages/hook_texts.o
agent := $(filter-out $(supervisor),$(call objects,supervisor/agent/*.cc))
workers := $(sort $(wildcard supervisor/agent/workers/*))
main := $(out)/obj/supervisor/cli/main.o
server_main := $(out)/obj/supervisor/server/main.o
server := $(filter-out $(server_main),$(call objects,supervisor/server/*.cc)) $(out)/obj/supervisor/server/openapi_text.o
cli := $(filter-out $(main),$(call objects,supervisor/cli/*.cc))
support := $(call objects,tests/support/*.cc)
unit := $(call objects,$(shell find tests/unit -name '*_test.cc' 2>/dev/null))
integration := $(call objects,tests/integration/*_test.cc)
hostile := $(call objects,tests/hostile/*_test.cc)
unlucky := $(call objects,tests/unlucky/*_test.cc)
faults := $(call objects,tests/faults/*.cc)
bench := $(call objects,tests/bench/*.cc)
fuzz_names := $(filter-out replay,$(patsubst tests/fuzz/%.cc,%,$(sort $(wildcard tests/fuzz/*.cc))))
fuzz := $(addprefix $(out)/tests/fuzz/,$(fuzz_names))
fuzzed := $(sys) $(policies) $(call objects,$(addprefix sandbox/,cgroup*.cc leased_user.cc state_lock.cc subordinate_ids.cc) \
  supervisor/config/own_places.cc $(addprefix supervisor/cli/,environment.cc options.cc run_notes.cc) supervisor/languages/box_names.cc \
  $(addprefix supervisor/run/,boost_json.cc json_text.cc record_json.cc record_parts.cc run_record.cc text_decoder.cc) \
  supervisor/sessions/session_terms.cc \
  $(addprefix supervisor/server/,batch_request.cc box_archive_names.cc byte_range.cc comparators.cc http_codec.cc json_members.cc problem.cc request_binds.cc request_field.cc request_target.cc request_terms.cc request_words.cc run_request.cc))
FUZZ_SECONDS ?= 30
programs := $(patsubst %.c,$(out)/tests/programs/%,$(notdir \
  $(sort $(wildcard tests/hostile/programs/*.c tests/unlucky/programs/*.c))))
tests := $(unit) $(integration) $(hostile) $(unlucky) $(faults)
# Highest first: a call from a lower layer into a higher one does not link.
layers := $(addprefix $(out)/lib,cli.a supervisor.a sandbox.a policies.a sys.a)
suites := unit integration hostile unlucky faults
# Where several processors, another kernel's Landlock or its own clock could matter.
qemu_tests := As/Isolation.*/user:As/HostileCall.*_root:As/ControlGroups.*:As/Ends.*/user:As/Time.ATimeout*:As/SetupSteps.*/root
# With the sanitizers in the command, which User-Mode Linux has no address space for.
asan_tests := As/Ends.*/user:As/SetupSteps.*/user:As/ControlGroups.*
cxx_files = $(shell find sandbox policies supervisor tests -name '*.cc' -o -name '*.h' -o -name '*.c')
# V=1 shows the whole commands.
say = $(if $(V),,@echo '  $(1) $@' &&)
parallel = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

FORCE:
.PHONY: tests fuzz-targets FORCE
.PHONY: all deps demo check check-long check-cpython unit integration hostile unlucky faults check-vm check-vm-full check-skips fuzz bench lint format format-check tidy coverage install uninstall generate sbom deb check-deb check-manifests clean help

all: $(out)/wardcase $(out)/wardcase-server $(out)/wardcase-agent  ## build build/wardcase, its companion and its agent (the default)

$(out)/wardcase: $(out)/wardcase.debug  # which keeps the symbols, for gdb
	$(call say,STRIP)$(STRIP) -o $@ $<
$(out)/wardcase.debug: $(main) $(layers)
	$(call say,LINK )$(link) $(link_product) -o $@ $^ $(libraries)
# Called for what takes shared libraries: the command starts without any.
$(out)/wardcase-server: $(out)/wardcase-server.debug
	$(call say,STRIP)$(STRIP) -o $@ $<
$(out)/wardcase-server.debug: $(server_main) $(out)/libserver.a $(layers)
	$(call say,LINK )$(link) -pie -o $@ $^ $(libraries_of_server)
# The first program of boxes that live on. It needs the C library alone, and none of the layers.
$(out)/wardcase-agent: $(out)/wardcase-agent.debug
	$(call say,STRIP)$(STRIP) -o $@ $<
$(out)/wardcase-agent.debug: $(agent)
	$(call say,LINK )$(link) $(link_product) -o $@ $^
ifeq ($(instrument),)
$(agent): compile += -fno-exceptions -fno-rtti
endif
$(out)/libserver.a: $(server)
# What was linked, for the list of parts.
$(out)/wardcase.debug $(out)/wardcase-server.debug $(out)/wardcase-agent.debug: private link += -Wl,-Map=$(@:.debug=.map)
$(out)/libcli.a: $(cli)
$(out)/libsupervisor.a: $(supervisor)
$(out)/libsandbox.a: $(sandbox)
$(out)/libpolicies.a: $(policies)
$(out)/libsys.a: $(sys)
$(layers) $(out)/libserver.a: $(out)/sources
	@rm -f $@
	$(call say,AR   )$(AR) rcs $@ $(filter %.o,$^)
# These files change when another compiler or other flags are asked for, and when a
# source comes or goes; what was made in the other way is made anew then.
$(out)/flags: now = $(CXX) $(CPPFLAGS) $(CXXFLAGS) $(LDFLAGS)
$(out)/sources: now = $(shipped) $(shipped_languages) $(hooks) $(sys) $(policies) $(sandbox) $(supervisor) $(agent) $(workers) $(cli) $(server_main) $(server) $(support) $(tests) $(bench) $(fuzz_names)
$(out)/flags $(out)/sources: FORCE
	@mkdir -p $(@D)
	@echo '$(now)' | cmp -s - $@ || echo '$(now)' >$@
$(out)/obj/%.o: %.cc Makefile $(out)/flags
	@mkdir -p $(@D)
	$(call say,CXX  )$(compile) -c -o $@ $<

# The shipped policies, as text in the binary.
$(out)/shipped_policies.cc: $(shipped) packaging/embed-policies $(out)/sources
	@packaging/embed-policies $(shipped) >$@
# The languages, as a table: what reads files of users at run time reads these once, here.
$(out)/embed-languages: $(embed) $(filter-out %/shipped_languages.o %/language_set.o,$(policies)) $(sys)
	$(call say,LINK )$(link) -pie -o $@ $(filter %.o,$^) -lre2
$(out)/shipped_languages.cc: $(shipped_languages) $(out)/embed-languages $(out)/sources
	@$(out)/embed-languages $(shipped_languages) >$@
$(out)/obj/policies/shipped_%.o: $(out)/shipped_%.cc Makefile $(out)/flags
	@mkdir -p $(@D)
	$(call say,CXX  )$(compile) -c -o $@ $<

# What interprets the programs of sessions, as text in the binary.
$(out)/worker_texts.cc: $(workers) packaging/embed-workers $(out)/sources
	@packaging/embed-workers $(workers) >$@
$(out)/obj/supervisor/agent/worker_texts.o: $(out)/worker_texts.cc Makefile $(out)/flags
	@mkdir -p $(@D)
	$(call say,CXX  )$(compile) -c -o $@ $<

# What is given to interpreters, too.
$(out)/hook_texts.cc: $(hooks) packaging/embed-hooks $(out)/sources
	@packaging/embed-hooks $(hooks) >$@
$(out)/obj/supervisor/languages/hook_texts.o: $(out)/hook_texts.cc Makefile $(out)/flags
	@mkdir -p $(@D)
	$(call say,CXX  )$(compile) -c -o $@ $<

# What the service answers, described.
$(out)/openapi_text.cc: supervisor/server/openapi.json packaging/embed-openapi $(out)/sources
	@packaging/embed-openapi $< >$@
$(out)/obj/supervisor/server/openapi_text.o: $(out)/openapi_text.cc Makefile $(out)/flags
	@mkdir -p $(@D)
	$(call say,CXX  )$(compile) -c -o $@ $<

# Between clone and exec no runtime of a sanitizer may run; such kinds also differ
# in what the compiler calls there, so that hardening is left out as well.
ifneq ($(instrument),)
child := $(filter $(addprefix $(out)/obj/sandbox/,child%.o init_process.o),$(sandbox))
$(child): instrument :=
$(child): hardening := -fno-stack-protector
endif

# Most of the time of a build is the tests' own, and they are run once.
$(support) $(tests): optimize := -O0
$(support) $(tests): hardening :=
tests: $(addprefix $(out)/tests/,$(suites)) $(programs) $(fuzz)
$(out)/tests/unit: $(unit)
$(out)/tests/integration: $(integration)
$(out)/tests/hostile: $(hostile)
$(out)/tests/unlucky: $(unlucky)
$(out)/tests/faults: $(faults)
$(out)/tests/unit: $(out)/libserver.a | $(out)/wardcase-agent
$(addprefix $(out)/tests/,$(suites)): $(support) $(layers)
	@mkdir -p $(@D)
	$(call say,LINK )$(link) -pie -o $@ $(filter %.o,$^) $(filter %/libserver.a,$^) $(filter %.a,$^) -lgtest_main -lgtest $(libraries)
$(out)/tests/bench: $(bench) $(layers)
	@mkdir -p $(@D)
	$(call say,LINK )$(link) -pie -o $@ $(filter %.o,$^) $(filter %.a,$^) $(libraries)
# Each target is its own program: with libFuzzer's main, or with one that replays a corpus.
$(fuzz): $(out)/tests/fuzz/%: $(out)/obj/tests/fuzz/%.o \
    $(if $(filter-out asan,$(KIND)),$(out)/obj/tests/fuzz/replay.o) $(fuzzed)
	@mkdir -p $(@D)
	$(call say,LINK )$(link) $(if $(filter asan,$(KIND)),-fsanitize=fuzzer) -pie -o $@ $^ $(libraries)
# Attacks bring no library with them that could stand in their way; the others are as people build them.
$(out)/tests/programs/%: tests/unlucky/programs/%.c Makefile
	@mkdir -p $(@D)
	$(call say,CC   )$(CC) -O2 -pthread -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror) -MMD -MP -MF $@.d -o $@ $<
$(out)/tests/programs/%: tests/hostile/programs/%.c Makefile
	@mkdir -p $(@D)
	$(call say,CC   )$(CC) -O2 -static -pthread -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror) -MMD -MP -MF $@.d -o $@ $<

deps:  ## say what is missing to build and test, and install it (YES=1: without asking)
	@packaging/deps build test
demo:  ## install what is missing, build, and show what it does
	@AUTO=1 packaging/deps build demo
	@$(MAKE) $(parallel) all
	@packaging/demo.sh
check:  ## install what the tests need, build, run all suites and lints
	@AUTO=1 packaging/deps build test
	@$(MAKE) $(parallel) all tests
	@tests/support/run_suites.py $(out) $(suites) fuzz lint
unit:  ## run the tests of single parts
integration:  ## run the tests of the built command
hostile:  ## run the attacks of tests/hostile, and print them as a table
unlucky:  ## run the harmless programs of tests/unlucky in it
faults:  ## fail its system calls, kill it and load it, a part of what check-long does
$(suites): %: all $(out)/tests/% $(programs)
	@tests/support/run_suites.py $(out) $@
check-cpython: all  ## compare CPython's own tests in the box and outside of it (MODULES="test_json ...")
	@tests/unlucky/cpython/check_cpython.py $(out) $(MODULES)
check-long: all $(out)/tests/faults $(programs)  ## all of faults: each point, 200 kills, 10,000 runs; WARDCASE_SEED=N
	@WARDCASE_LONG=1 tests/support/run_suites.py $(out) faults
fuzz:  ## fuzz each target of tests/fuzz for FUZZ_SECONDS (30), with clang and its sanitizers
	@AUTO=1 packaging/deps clang
	@$(MAKE) $(parallel) KIND=asan fuzz-targets
	@for name in $(fuzz_names); do \
	  mkdir -p build/fuzz/corpus/$$name && echo "fuzz: $$name" && \
	  build/asan/tests/fuzz/$$name -verbosity=0 -print_final_stats=1 -timeout=1 \
	    -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=build/fuzz/$$name- \
	    build/fuzz/corpus/$$name tests/fuzz/corpus/$$name || exit 1; \
	done
fuzz-targets: $(fuzz)
guest_needs := all $(addprefix $(out)/tests/,integration hostile) $(programs)
check-vm: $(guest_needs)  ## run both suites in a guest: systemd, cgroup v2, User-Mode Linux
	@AUTO=1 packaging/deps vm
	@tests/vm/check_vm.py uml $(out)
check-vm-full: $(guest_needs)  ## then, under qemu, what check-vm skipped, a few suites, and a few with sanitizers
	@AUTO=1 packaging/deps vm clang
	@$(MAKE) $(parallel) KIND=asan all
	@tests/vm/check_vm.py qemu $(out) '$(qemu_tests)' '$(asan_tests)'
check-skips:  ## fail if a test was skipped by check and by both guests
	@tests/vm/check_vm.py skips $(out)
bench: all $(out)/tests/bench  ## compare the time to start programs (BENCH="--rounds 100"); build/bench.json
	@$(out)/tests/bench --wardcase $(CURDIR)/$(out)/wardcase --json $(out)/bench.json $(BENCH)
lint: all  ## run the checks of tests/lint
	@tests/support/run_suites.py $(out) lint
format:  ## format all sources in place with clang-format 14
	clang-format-14 -i $(cxx_files)
format-check:  ## say which sources are not formatted
	@tests/lint/check_format.sh
# The static analyzer takes twice the time of all else (ANALYSIS=shallow), or four times (deep).
analysis := $(if $(ANALYSIS),-Xclang -analyzer-config -Xclang mode=$(ANALYSIS))
tidy:  ## run clang-tidy 14 over the sources (TIDY="FILES" for some of them, ANALYSIS=deep with the static analyzer)
	printf '%s\n' $(or $(TIDY),$(filter-out tests/%,$(filter %.cc,$(cxx_files)))) | \
	  xargs -P$(shell nproc) -I{} clang-tidy-14 --quiet $(if $(ANALYSIS),,--checks='-clang-analyzer-*') {} -- -std=c++20 -I. $(analysis)
coverage:  ## tell the line coverage of the unit and integration suites; below 90 % fails
	@YES=$(YES) AUTO=1 packaging/deps build test coverage
	@$(MAKE) $(parallel) KIND=coverage all tests
	find build/coverage -name '*.gcda' -delete
	@# Root leaves the other user's half out: who can't write counts complains on stderr.
	@GTEST_FILTER="$$(test "$$(id -u)" = 0 && echo '-*/user:Completion.*' || echo '*')" \
	  tests/support/run_suites.py build/coverage unit integration
	gcovr --root . --filter policies/ --filter supervisor/run/ --fail-under-line 90 build/coverage
# Units, which name the command by its place.
system_units := wardcased.socket wardcased-tcp.socket wardcased.service
user_units := wardcase.socket wardcase.service
# What is installed, as SOURCE=MODE:TARGET.
installed := $(out)/wardcase=755:$(BINDIR)/wardcase \
  $(out)/wardcase-server=755:$(LIBEXECDIR)/wardcase-server \
  $(out)/wardcase-agent=755:$(LIBEXECDIR)/wardcase-agent \
  packaging/man/wardcase.1=644:$(MANDIR)/man1/wardcase.1 \
  packaging/man/wardcase-policy.5=644:$(MANDIR)/man5/wardcase-policy.5 \
  packaging/man/wardcase-language.5=644:$(MANDIR)/man5/wardcase-language.5 \
  packaging/man/wardcase.toml.5=644:$(MANDIR)/man5/wardcase.toml.5 \
  packaging/man/wardcase-security.7=644:$(MANDIR)/man7/wardcase-security.7 \
  packaging/man/wardcased.8=644:$(MANDIR)/man8/wardcased.8 \
  packaging/completions/wardcase.bash=644:$(BASHCOMPDIR)/wardcase \
  packaging/completions/wardcase.zsh=644:$(ZSHCOMPDIR)/_wardcase \
  packaging/completions/wardcase.fish=644:$(FISHCOMPDIR)/wardcase.fish \
  $(foreach unit,$(system_units),$(out)/units/$(unit)=644:$(UNITDIR)/$(unit)) \
  $(foreach unit,$(user_units),$(out)/units/user/$(unit)=644:$(USERUNITDIR)/$(unit)) \
  packaging/sysusers.d/wardcase.conf=644:$(SYSUSERSDIR)/wardcase.conf \
  packaging/tmpfiles.d/wardcase.conf=644:$(TMPFILESDIR)/wardcase.conf \
  packaging/subordinate-ids=755:$(LIBEXECDIR)/subordinate-ids \
  packaging/apparmor/wardcase=644:$(PREFIX)/share/wardcase/apparmor/wardcase
own_directories := $(addprefix $(DESTDIR),$(LIBEXECDIR) $(PREFIX)/share/wardcase/apparmor $(PREFIX)/share/wardcase)
install: all  ## install below $(DESTDIR)$(PREFIX); BINDIR, MANDIR, UNITDIR and the like say where else
	@mkdir -p $(out)/units/user
	@set -e; for unit in $(system_units) $(user_units:%=user/%); do \
	  sed 's|@BINDIR@|$(BINDIR)|; s|@LIBEXECDIR@|$(LIBEXECDIR)|' packaging/systemd/$$unit >$(out)/units/$$unit; \
	done
	@set -e; for item in $(installed); do \
	  mode=$${item#*=}; target=$${mode#*:}; mode=$${mode%%:*}; \
	  (set -x; install -Dm$$mode "$${item%%=*}" "$(DESTDIR)$$target"); \
	done
uninstall:  ## remove what install put there
	rm -f $(foreach item,$(installed),$(DESTDIR)$(lastword $(subst :, ,$(item))))
	@for directory in $(own_directories); do rmdir "$$directory" 2>/dev/null || true; done
generate: all  ## make the options of wardcase(1) and the completions anew from the table of options
	packaging/generate $(out)/wardcase
sbom: all  ## list what the programs are made of, as SPDX 2.3: build/wardcase.spdx.json
	@packaging/sbom $(out)
deb:  ## build the Debian packages wardcase and wardcased: build/deb/*.deb
	@AUTO=1 packaging/deps build package
	@packaging/build-deb
check-deb:  ## install, upgrade and purge the packages of make deb in a guest
	@AUTO=1 packaging/deps vm package
	@tests/packages/check_deb.py
check-manifests:  ## check the Kubernetes manifests, the container's recipe and the RPM spec
	@AUTO=1 packaging/deps package
	@tests/packages/check_manifests.py
clean:  ## remove build/
	rm -rf build
help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

-include $(shell find $(out)/obj $(out)/tests -name '*.d' 2>/dev/null)
