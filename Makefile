# Everything runs from .venv, which `.ci/setup` makes and keeps up to date. Programs are started
# as modules (`python -m ...`), since the first line of an installed script cannot name an
# interpreter whose path holds a space.

# Never let a personal PYTHONPATH or an active environment decide what a build sees.
unexport PYTHONPATH PYTHONHOME
RUN := .venv/bin/python -m
ARGS ?=
SHARED ?= ../shared/data

.PHONY: help book test lint bench records clean setup-book setup-test
.DEFAULT_GOAL := help

help:
	@echo "make book    set up, run every chapter and render the book: _build/html/index.html"
	@echo "make test    set up and run the tests"
	@echo "make lint    style and types: ruff and mypy --strict"
	@echo "make bench   timings, side by side with plain loops"
	@echo "make records measure anew what the pages quote of data sets in SHARED=FOLDER"
	@echo "make clean   remove what was built (not .venv)"
	@echo
	@echo "PYTHON=/path/to/python3.11 names the interpreter; ARGS='...' is passed on,"
	@echo "for instance: make test ARGS='tests/test_book.py -x'   make book ARGS='--profile smoke'"

setup-book:
	@.ci/setup book

setup-test:
	@.ci/setup book,test

book: setup-book
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

bench: setup-test
	@$(RUN) pytest tests/benchmarks -q -s $(ARGS)

clean:
	rm -rf _build build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis notebooks/*.ipynb
	find chaincheck tests -name __pycache__ -type d -prune -exec rm -rf {} +
