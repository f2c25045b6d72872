# Everything runs from .venv, which `.ci/setup` makes and keeps up to date. Programs are started
# as modules (`python -m ...`), since the first line of an installed script cannot name an
# interpreter whose path holds a space.

# Never let a personal PYTHONPATH or an active environment decide what a build sees.
unexport PYTHONPATH PYTHONHOME
RUN := .venv/bin/python -m
ARGS ?=
SHARED ?= ../shared/data
MODELS ?= smollm2 minilm

.PHONY: help book test lint bench records judgments trainings models clean setup-book setup-test
.DEFAULT_GOAL := help

help:
	@echo "make book    set up, run every chapter and render the book: _build/html/index.html"
	@echo "make test    set up and run the tests"
	@echo "make lint    style and types: ruff and mypy --strict"
	@echo "make bench   timings, side by side with plain loops"
	@echo "make records measure anew what the pages quote of data sets in SHARED=FOLDER"
	@echo "make judgments  let the two small models judge anew what the pages quote of them"
	@echo "make trainings  train by the book's recipes anew what the pages quote of them; hours"
	@echo "make clean   remove what was built (not .venv)"
	@echo
	@echo "PYTHON=/path/to/python3.11 names the interpreter; ARGS='...' is passed on,"
	@echo "for instance: make test ARGS='tests/test_book.py -x'   make book ARGS='--profile smoke'"
	@echo "make book gets two small models once, 180 MB in all; make book MODELS= does without."

setup-book:
	@.ci/setup book

setup-test:
	@.ci/setup book,test

# Two small models that chapter 4 asks. A model that cannot be got is told, and is no failure.
models: setup-book
	@$(RUN) chaincheck.book_models $(MODELS)

book: models
	@$(RUN) chaincheck book $(ARGS)

test: setup-test
	@$(RUN) pytest -n auto --dist loadfile $(ARGS)

lint: setup-test
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .
	@$(RUN) mypy chaincheck

# What the pages say about data that is not part of the book; its files lie in SHARED.
records: setup-book
	@$(RUN) chaincheck.records "$(SHARED)"

# What the pages quote of the two models; asks only for what the records lack.
judgments: models
	@$(RUN) chaincheck.judge_records

# What the pages quote of training: runs over seeds; makes only what is missing.
trainings: models
	@$(RUN) chaincheck.record_training $(ARGS)

bench: setup-test
	@$(RUN) pytest tests/benchmarks -q -s $(ARGS)

clean:
	rm -rf _build build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis notebooks/*.ipynb
	find chaincheck tests -name __pycache__ -type d -prune -exec rm -rf {} +
