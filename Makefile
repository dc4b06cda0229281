# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
DATASETS := $(abspath ../shared/datasets)
# Benchmark data sets beside the checkout are used where there are any.
export KGFLOW_DATA ?= $(if $(wildcard $(DATASETS)),$(DATASETS),)

.PHONY: demo test lint docs stats images bench bench-serve reproduce presets clean

demo: .make/installed
	$(BIN)/python examples/demo.py

test: lint docs
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

lint: .make/developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The documentation site, in docs/_build/html; tutorials and examples are run.
docs: .make/developed
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html

# Size of the library beside its limits.
stats:
	$(PYTHON) scripts/stats.py

# Pictures of the report and the explorer for the README; needs chromium.
images: demo .make/developed
	$(BIN)/python scripts/screenshots.py

# A quarter of an hour or more, on an idle machine; `make bench QUICK=1` takes a minute.
bench: .make/developed
	$(BIN)/python -m reproduce.speed $(if $(QUICK),--quick)

# Index, batcher and server: twenty minutes or more, on an idle machine; QUICK=1 takes a minute.
bench-serve: .make/developed
	$(BIN)/python -m reproduce.speed.serving $(if $(QUICK),--quick)

# A study of `reproduce/`, by default every model on umls, nations and countries: most of an hour.
# Finished runs and stored results are not run again.
STUDY ?= small
reproduce: .make/installed
	$(BIN)/python -m reproduce $(STUDY) --jobs 2 --page docs/results/$(STUDY).md

# The presets on all graphs beside their targets: hours; stored results are not run again.
presets: .make/developed
	$(BIN)/python -m reproduce presets --seeds 3 --store --page docs/results/presets.md

# Installed once, and again only when the requirements change.
.make/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt torch numpy
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[rdf,plot]"
	@mkdir -p .make && touch $@

.make/developed: .make/installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[ann,peers,serve,tune]"
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt \
		axe-playwright-python httpx2 hypothesis mypy playwright pre-commit pytest pytest-xdist ruff \
		schemathesis tensorboard
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt \
		furo myst-parser sphinx sphinx-copybutton sphinx-design sphinx-gallery
	@touch $@

clean:
	rm -rf .venv .make
