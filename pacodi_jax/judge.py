"""``python -m pacodi_jax.judge`` judges files; in Python, ``pacodi_jax.judge(…)`` judges windows.

The name stands for the function even after this module was imported: the module is callable.
"""

if __name__ == "__main__":
    from pacodi_jax.cli import start

    start.run("pacodi_jax.cli.judge")
else:
    import inspect
    import sys
    import types

    from pacodi_jax.report.judgement import Verdict, judge

    __all__ = ["Verdict", "judge"]

    class _CallableModule(types.ModuleType):
        """A module that is called like the function it holds."""

        __call__ = staticmethod(judge)

    __doc__ = f"{__doc__}\n{inspect.getdoc(judge)}"  # what help(pacodi_jax.judge) shows
    __signature__ = inspect.signature(judge)
    sys.modules[__name__].__class__ = _CallableModule
