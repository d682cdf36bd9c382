"""The packages, found: `srcgrad` and all below it, and the folder `templates`, installed as `srcgrad.templates`.

The licence stands here as well: older setuptools refuse a text for it in pyproject.toml, newer ones a table. All else
about the project stands in pyproject.toml.
"""

from setuptools import find_packages, setup

setup(
    license="Apache-2.0",
    packages=[
        *find_packages(include=["srcgrad", "srcgrad.*"]),
        *(f"srcgrad.{name}" for name in find_packages(include=["templates", "templates.*"])),
    ],
    package_dir={"srcgrad.templates": "templates"},
)
