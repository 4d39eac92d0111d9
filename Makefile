# Every command here makes the virtual environment that it needs.
VENV ?= .venv
PYTHON ?= python3
BIN = $(VENV)/bin
CPP = $(wildcard cpp/*.cpp cpp/*.hpp cpp/*.inl cpp/python/* cpp/tests/*.cpp)
# The tests of the core need the extension module newfound._core_test.
INSTALL_TEST = $(BIN)/pip install --quiet -Ccmake.define.NEWFOUND_TEST_MODULE=ON ".[test,lint]"
# One process more than cores, because some tests wait for servers, brokers and killed processes;
# a file in one process, so that its fixtures are made once.
PARALLEL ?= --numprocesses $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --dist loadfile
# Each process of the tests has one core: more threads of a library would only wait for each other.
PYTEST = OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest $(PARALLEL)
TESTS = --doctest-modules --pyargs tests newfound lab
FAST = not slow and not law and not quality and not exhaustive
LOCK = $(BIN)/uv pip compile pyproject.toml --python-version 3.11 --quiet --no-header --upgrade
CPPFLAGS_TEST = -S . -DCMAKE_BUILD_TYPE=RelWithDebInfo -DNEWFOUND_CORE_TEST=ON

.PHONY: demo develop test test-ci law quality exhaustive test-all coverage lint format stubtest core-test core-test-arm64 core-test-windows core-check-macos sanitize peers reproduce vendor picture docs mutants fuzz soak audit test-oldest lock wheel figures clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

$(BIN)/ruff: $(BIN)/python
	$(INSTALL_TEST)

demo: $(BIN)/python  ## install, with the locked versions, and describe the bundled sample
	$(BIN)/pip install --quiet --require-hashes -r requirements/run.txt
	$(BIN)/pip install --quiet --no-deps .
	$(BIN)/newfound demo

develop: $(BIN)/python  ## install in editable mode; again after a change of the core
	$(BIN)/pip install --quiet "scikit-build-core>=0.11" "nanobind>=2.4" cmake ninja setuptools wheel
	$(BIN)/pip install --quiet --no-build-isolation -Ccmake.define.NEWFOUND_TEST_MODULE=ON --editable ".[test,lint]"

test: $(BIN)/python  ## install, check the code, run all tests but the long ones
	$(INSTALL_TEST)
	$(MAKE) lint
	$(PYTEST) -m "$(FAST)" $(TESTS)

test-ci: $(BIN)/python  ## all tests but those of law, quality and exhaustive: the browser, hostile files, the core by itself
	$(INSTALL_TEST)
	$(MAKE) --jobs 2 --output-sync lint stubtest core-test
	$(PYTEST) -m "not law and not quality and not exhaustive" --durations=10 $(TESTS)

law: $(BIN)/ruff  ## the core against its reference, by many fits: when the core has changed
	$(PYTEST) -m law $(TESTS)

quality: $(BIN)/ruff  ## measurements on whole corpora; they need NEWFOUND_DATA
	$(PYTEST) -m quality $(TESTS)

exhaustive: $(BIN)/ruff  ## more draws than CI makes of hostile files
	$(PYTEST) -m exhaustive $(TESTS)

test-all: test-ci law quality exhaustive core-test-arm64 sanitize  ## everything

coverage: $(BIN)/ruff  ## which lines the tests run, the long ones left out
	$(PYTEST) -m "$(FAST)" --cov=newfound --cov-report=term:skip-covered $(TESTS)

lint: $(BIN)/ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(BIN)/ruff
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CPP)

stubtest: $(BIN)/ruff  ## compare the stub of the extension module with the binary
	$(BIN)/stubtest newfound._core --allowlist tests/stubtest_allowlist.txt

core-test:  ## the core's own tests, without Python
	cmake $(CPPFLAGS_TEST) -B build/core -DCMAKE_BUILD_TYPE=Release
	cmake --build build/core --parallel 2
	ctest --test-dir build/core --output-on-failure

core-test-arm64:  ## the same, built for 64-bit Arm and run by qemu
	@if command -v aarch64-linux-gnu-g++ >/dev/null && command -v qemu-aarch64 >/dev/null; then \
	  $(MAKE) run-core-test-arm64; \
	else \
	  echo "Skipped: the core was not tested for 64-bit Arm, which needs aarch64-linux-gnu-g++ and qemu-aarch64 (Debian: g++-aarch64-linux-gnu, qemu-user)."; \
	fi

.PHONY: run-core-test-arm64
run-core-test-arm64:
	cmake $(CPPFLAGS_TEST) -B build/arm64 -DCMAKE_BUILD_TYPE=Release -DCMAKE_EXE_LINKER_FLAGS=-static \
	  -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
	  -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ -DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64
	cmake --build build/arm64 --parallel 2
	ctest --test-dir build/arm64 --output-on-failure

# zig, a package of PyPI, is clang with the C and C++ libraries of other systems. It lacks what
# compiler_test asks GCC and clang for, so that test is left out.
ZIG = $(abspath $(BIN))/python -m ziglang
ZIG_TESTS = newfound_core core_test scorer_test arithmetic_test
ZIG_BUILD = cmake $(CPPFLAGS_TEST) -DCMAKE_BUILD_TYPE=Release \
  "-DCMAKE_CXX_ARCHIVE_CREATE=$(ZIG) ar qc <TARGET> <OBJECTS>" "-DCMAKE_CXX_ARCHIVE_FINISH=$(ZIG) ranlib <TARGET>"
ZIG_FOR = -DCMAKE_CXX_COMPILER="$(abspath $(BIN))/python;-m;ziglang;c++;-target;

core-test-windows:  ## the core's own tests, built for Windows and run by Wine
	@if $(ZIG) version >/dev/null 2>&1 && command -v wine >/dev/null; then \
	  $(MAKE) run-core-test-windows; \
	else \
	  echo "Skipped: the core was not tested for Windows, which needs zig ($(BIN)/pip install ziglang) and wine (Debian: wine64)."; \
	fi

.PHONY: run-core-test-windows
run-core-test-windows:
	$(ZIG_BUILD) -B build/windows -DCMAKE_SYSTEM_NAME=Windows -DCMAKE_SYSTEM_PROCESSOR=AMD64 $(ZIG_FOR)x86_64-windows-gnu"
	cmake --build build/windows --parallel 2 --target $(ZIG_TESTS)
	WINEDEBUG=-all wine build/windows/core_test.exe
	WINEDEBUG=-all wine build/windows/scorer_test.exe
	WINEDEBUG=-all wine build/windows/arithmetic_test.exe

core-check-macos:  ## compile the core and its tests for macOS, both processors; nothing runs
	@if $(ZIG) version >/dev/null 2>&1; then \
	  $(MAKE) run-core-check-macos; \
	else \
	  echo "Skipped: the core was not compiled for macOS, which needs zig ($(BIN)/pip install ziglang)."; \
	fi

.PHONY: run-core-check-macos
run-core-check-macos:
	$(ZIG_BUILD) -B build/macos-x86_64 -DCMAKE_SYSTEM_NAME=Darwin -DCMAKE_SYSTEM_PROCESSOR=x86_64 $(ZIG_FOR)x86_64-macos"
	cmake --build build/macos-x86_64 --parallel 2 --target $(ZIG_TESTS)
	$(ZIG_BUILD) -B build/macos-arm64 -DCMAKE_SYSTEM_NAME=Darwin -DCMAKE_SYSTEM_PROCESSOR=arm64 $(ZIG_FOR)aarch64-macos"
	cmake --build build/macos-arm64 --parallel 2 --target $(ZIG_TESTS)

sanitize:  ## the core's own tests under the address, undefined behaviour and thread sanitisers
	cmake $(CPPFLAGS_TEST) -B build/asan -DNEWFOUND_SANITIZE=address,undefined -DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS
	cmake --build build/asan --parallel 2 && build/asan/core_test && build/asan/scorer_test && build/asan/arithmetic_test && build/asan/compiler_test
	cmake $(CPPFLAGS_TEST) -B build/tsan -DNEWFOUND_SANITIZE=thread
	cmake --build build/tsan --parallel 2 && build/tsan/core_test && build/tsan/scorer_test && build/tsan/arithmetic_test

mutants: $(BIN)/ruff  ## plant errors, one at a time, and list those that no test notices: about half an hour
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/mutants.py --core --page

fuzz: $(BIN)/ruff  ## look for inputs that break readers, model files, words and the core: ten minutes
	$(BIN)/pip install --quiet atheris
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONPATH=src:tests $(BIN)/python tools/fuzz.py

soak: $(BIN)/ruff  ## describe, detect, monitor and serve in a loop: memory, threads and files stay flat; 20 minutes
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/soak.py --minutes 20 --page

audit: $(BIN)/ruff  ## look for known vulnerabilities of the locked libraries, and list their licences; needs the network
	$(BIN)/pip install --quiet pip-audit
	$(BIN)/pip-audit --disable-pip --require-hashes -r requirements/run.txt -r requirements/dev.txt
	$(BIN)/python tools/licences.py

peers: $(BIN)/python  ## speed against other Tsetlin Machines, about half an hour
	$(BIN)/pip install --quiet .
	$(BIN)/python benchmarks/peers.py

reproduce: $(BIN)/python  ## the paper's experiments into experiments/results; needs NEWFOUND_DATA
	$(BIN)/pip install --quiet ".[paper]"
	$(BIN)/python -m lab reproduce all --seeds 5 --preset paper --output experiments/results --resume

vendor:  ## fetch the JavaScript that reports and their tests carry, exact versions, checked
	$(PYTHON) tools/vendor.py

picture: $(BIN)/python  ## the pictures of reports in the README and the tutorial; needs Chromium
	$(BIN)/pip install --quiet ".[test]"
	$(BIN)/python tools/picture.py

docs: $(BIN)/python  ## the site, into build/docs; warnings are errors, links are checked, nothing is downloaded
	$(BIN)/pip install --quiet ".[docs]"
	$(BIN)/python tools/cli_docs.py
	$(BIN)/python -m sphinx --fresh-env --fail-on-warning --keep-going --quiet docs build/docs
	$(BIN)/python tools/check_site.py build/docs

test-oldest:  ## the fast tests with the oldest versions that pyproject.toml allows
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/pip install --quiet -r requirements/oldest.txt
	$(VENV)-oldest/bin/pip install --quiet --no-deps -Ccmake.define.NEWFOUND_TEST_MODULE=ON .
	$(MAKE) BIN=$(VENV)-oldest/bin run-fast

.PHONY: run-fast
run-fast:  # old versions warn of new ones beneath them: warnings are no errors here
	$(PYTEST) -o filterwarnings=default --disable-warnings -m "$(FAST)" $(TESTS)

lock: $(BIN)/python  ## resolve the dependencies again: requirements/*.txt
	$(BIN)/pip install --quiet uv
	$(LOCK) --universal --generate-hashes -o requirements/run.txt
	$(LOCK) --universal --generate-hashes --extra test --extra lint --extra docs -o requirements/dev.txt
	$(LOCK) --resolution lowest-direct --extra test -o requirements/oldest.txt

wheel: $(BIN)/python  ## sdist and wheel into dist, as a release has them
	$(BIN)/pip install --quiet build
	$(BIN)/python tools/sbom.py
	$(BIN)/python -m build

figures: $(BIN)/ruff  ## every kept figure again, and the pages compared with them; hours
	$(BIN)/pip install --quiet river==0.26.1  # a peer of the monitor
	$(BIN)/python tools/figures.py

clean:
	rm -rf build dist docs/_outside $(VENV) $(VENV)-oldest
