# The two commands: `make serve` and `make test`. All else is in tools/.
.DEFAULT_GOAL := help
.PHONY: help serve check test lock format clean environment-run environment-dev lint

# Recipes see `python`: the one that makes the virtual environment.
environment = python=$$(tools/find-python) && "$$python" -m tools.environment
venv := .venv/bin

# What `make check` leaves to `make test`.
quick := not go and not packaging and not slow

help:
	@echo "make serve    start the mock driver   SCENARIO=name or file, ENDPOINT=unix:///path"
	@echo "make check    lint, types, import rules and the quick tests"
	@echo "make test     the same and all other tests: Go programs, built distributions"
	@echo "make format   rewrite the code as the linter wants it"
	@echo "make lock     write requirements/*.lock anew   UPGRADE=1 for newest versions"
	@echo "make clean    remove what the other targets made"

serve: environment-run
	@exec $(venv)/mockdriver serve $(if $(SCENARIO),--scenario '$(SCENARIO)') $(if $(ENDPOINT),--endpoint '$(ENDPOINT)')

check: lint
	$(venv)/pytest -q -m '$(quick)'

test: lint
	$(venv)/python -m tools.go_programs
	$(venv)/pytest

lint: environment-dev
	$(venv)/ruff format --check
	$(venv)/ruff check
	$(venv)/mypy
	$(venv)/lint-imports

format: environment-dev
	$(venv)/ruff check --fix
	$(venv)/ruff format

lock: environment-dev
	$(venv)/python -m tools.lock $(if $(UPGRADE),--upgrade)

clean:
	rm -rf .venv .cache build dist csi_spec/csi_pb2* kubelet_spec/*_pb2* mockdriver/control/v1/*_pb2* .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

environment-run:
	@$(environment) run

environment-dev:
	@$(environment) dev
