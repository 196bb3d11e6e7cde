"""Worlds: the ranks that communicate with each other."""

from __future__ import annotations

from typing import Any

from ._native import clib, context, new


class World:
    """The ranks that communicate with each other, in this process or in several. :meth:`virtual` and :meth:`mpi` create one."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    @classmethod
    def virtual(cls, num_ranks: int, *, timeout: float | None = None) -> World:
        """Creates a world whose ranks are all in this process: threads on the CPU.

        :param timeout: time limit of each wait for another rank, in seconds; None: 10 minutes; negative: no limit
        """
        return cls(clib.shw_world_create_virtual(context(), num_ranks, _options(timeout)))

    @classmethod
    def mpi(cls, *, timeout: float | None = None, plugin: str | None = None) -> World:
        """Creates a world of the processes of MPI_COMM_WORLD, one rank each. Every process must call it.

        :param timeout: as for :meth:`virtual`
        :param plugin: path of libshardwise_mpi.so; None: in the folder of the library
        :raises Unavailable: there is no MPI on this machine, or it does not start
        """
        options = _options(timeout)
        if plugin is not None:
            options.mpi_plugin = plugin
        return cls(clib.shw_world_create_mpi(context(), options))

    @property
    def num_ranks(self) -> int:
        """Number of ranks, in all processes."""
        count: int = clib.shw_world_num_ranks(self._handle)
        return count

    @property
    def local_ranks(self) -> list[int]:
        """The ranks of this process."""
        return [clib.shw_world_local_rank(self._handle, i) for i in range(clib.shw_world_num_local_ranks(self._handle))]

    def check(self) -> None:
        """Returns if the world works. Otherwise raises the error with which all its runs fail."""
        clib.shw_world_status(self._handle)

    def abort(self) -> None:
        """Stops all runs on all ranks. The world cannot be used afterwards. Any thread may call it."""
        clib.shw_world_abort(self._handle)

    def __repr__(self) -> str:
        return f"<shardwise.World of {self.num_ranks} ranks, here {self.local_ranks}>"


def _options(timeout: float | None) -> Any:
    return new("world_options", timeout_ns=None if timeout is None else int(timeout * 1e9))
