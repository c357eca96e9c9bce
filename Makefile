# `make` lists what there is. Everything is set up as needed, inside this directory (see scripts/setup).

OUT ?= out/demo

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/make \1\t\2/' | expand -t 20

demo: ## measure this machine, trace a program on it, simulate it at scale: ends with a report in out/demo (OUT=… for another place)
	@scripts/demo $(OUT)

test: ## every check: formatters, linters, types, C++ tests with sanitizers, Python tests
	@scripts/test

check: ## those checks that your change since the last commit touches (SINCE=main: since another commit)
	@scripts/test touched $(SINCE)

test-long: ## what `make test` leaves out: all random cases, threads under their sanitizer, fuzzing, a bare Debian (an hour)
	@scripts/test long

lint: ## the checks of `make test` without its tests
	@scripts/test lint

format: ## rewrite the sources as the formatters want them
	@scripts/format

stubs: ## rewrite python/idlewave/_core.pyi from the compiled core
	@scripts/stubs

bench: ## how long the simulator takes, in tables (BENCH="--large --loggopsim DIRECTORY": more of them; "--before PYTHON": beside an earlier Idlewave)
	@scripts/bench $(BENCH)

bench-kernel: ## how many events a second the kernel handles (BENCH="--sweeps --density --ross DIRECTORY": more plots, and beside ROSS; "--before PYTHON": beside an earlier Idlewave)
	@scripts/bench-kernel $(BENCH)

bench-truth: ## how far predictions of a measured machine are off, for each MPI and transport: minutes (BENCH="--only mpich --four")
	@scripts/bench-truth $(BENCH)

clean: ## remove all that was built or installed here; results in out/ stay
	rm -rf build dist .venv .mpich .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: help demo test check test-long lint format stubs bench bench-kernel bench-truth clean
