"""Why a call is written out in place, and not one of a derivative of what it calls."""

from __future__ import annotations

from typing import Any  # called functions are arbitrary objects

import gast

from srcgrad.front.functions import as_owner, function_of
from srcgrad.front.procedures import Procedures
from srcgrad.front.written_out import Site
from srcgrad.rules import is_composition
from srcgrad.trees import Node, walk


def reason_of(call: Node, function: Any, site: Site, *, performed: bool = False) -> str:
    """The reason; an empty string for a call that is not written out. `performed` if its result is not used."""
    given = [*call.args, *(w.value for w in call.keywords)]
    if any(_is_function(item, site) for item in given):
        return "takes a function"
    if is_composition(function) and not any(
        isinstance(n, gast.Name) and n.id in site.local for item in given for n in walk(item)
    ):
        return ""  # of constants
    if site.facts.generated and any(isinstance(item, gast.Tuple) for item in given):
        return "is the rule of a user, with the primals of a call"
    if changed_by(call, site, performed=performed):
        return "writes into its arguments"
    if _asks_owner(call, function, site):
        return "calls methods of an object that it gets"
    return "takes `*args`" if site.is_of(function, lambda tree: tree.args.vararg is not None) else ""


def _is_function(item: Node, site: Site) -> bool:
    """Whether an argument is a function, or an object by its name; an object that another holds is one to ask."""
    if not isinstance(item, gast.Name | gast.Attribute | gast.Call):
        return False
    found = function_of(item, site.facts, site.local)
    return found is not None and (found.whole is None or isinstance(item, gast.Name))


def changed_by(call: Node, site: Site, *, performed: bool) -> list[Node]:
    """The arguments that a call changes; `u *= s` of a parameter is meant to where the call is made for its effect."""
    return Procedures(site.facts, augments=performed).arguments(call, site.facts, site.local)


def _asks_owner(call: Node, function: Any, site: Site) -> bool:
    """Whether a function calls something of a class, or of an object of the module, that is its argument."""
    owners = [k for k, item in enumerate(call.args) if as_owner("", item, site.facts, site.local) is not None]
    if not owners:
        return False
    tree = site.facts.module.source(function)[0].tree
    names = [a.id for a in [*tree.args.posonlyargs, *tree.args.args]]
    asked = {names[k] for k in owners if k < len(names)}
    called = [n.func for s in tree.body for n in walk(s) if isinstance(n, gast.Call)]
    by_super = any(getattr(getattr(getattr(one, "value", None), "func", None), "id", "") == "super" for one in called)
    return (by_super and 0 in owners) or any(getattr(getattr(one, "value", one), "id", "") in asked for one in called)
