# The three commands: `make serve`, `make test` and `make e2e`. All else is in tools/ and e2e/.
.DEFAULT_GOAL := help
.PHONY: help serve check test e2e cluster lock format clean environment-run environment-dev lint

# Recipes see `python`: the one that makes the virtual environment.
environment = python=$$(tools/find-python) && "$$python" -m tools.environment
venv := .venv/bin

# Programs that win over the ones that are built here.
programs := $(if $(PROGRAMS),env MOCKDRIVER_E2E_PROGRAMS='$(PROGRAMS)')

# What `make check` leaves to `make test`.
quick := not browser and not go and not packaging and not slow

help:
	@echo "make serve    start the mock driver   SCENARIO=name or file, ENDPOINT=unix:///path, DASHBOARD=host:port"
	@echo "make check    lint, types, import rules and the quick tests"
	@echo "make test     the same and all other tests: Go programs, built distributions"
	@echo "make e2e      tests with a real Kubernetes   ARGS='options of pytest', PROGRAMS=folder"
	@echo "make cluster  a real Kubernetes to play with   SCENARIO=name or file, PROGRAMS=folder"
	@echo "make format   rewrite the code as the linter wants it"
	@echo "make lock     write requirements/*.lock anew   UPGRADE=1 for newest versions"
	@echo "make clean    remove what the other targets made"

serve: environment-run
	@exec $(venv)/mockdriver serve $(if $(SCENARIO),--scenario '$(SCENARIO)') $(if $(ENDPOINT),--endpoint '$(ENDPOINT)') $(if $(DASHBOARD),--dashboard '$(DASHBOARD)')

check: lint
	$(venv)/pytest -q -m '$(quick)'

test: lint
	$(venv)/python -m tools.go_programs
	$(venv)/python -m tools.chromium
	$(venv)/pytest

e2e: environment-dev
	$(venv)/python -m tools.kubernetes_programs
	@exec $(programs) $(venv)/pytest e2e $(ARGS)

cluster: environment-dev
	@$(venv)/python -m tools.kubernetes_programs
	@$(venv)/python -m tools.go_programs grpcurl >/dev/null
	@exec $(programs) $(venv)/python -m e2e.by_hand $(if $(SCENARIO),'$(SCENARIO)')

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
