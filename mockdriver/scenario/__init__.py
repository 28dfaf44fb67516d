"""Scenario files: YAML, safely read, to a validated model, to a simulated cloud.

* `load.load` and `load.loads` give a `LoadedScenario` or raise `mistakes.ScenarioMistakes`.
* `build.build` makes the `Cloud` that a scenario describes.
* `shipped` finds the scenarios that come with the program; `schema` is for editors.
"""
