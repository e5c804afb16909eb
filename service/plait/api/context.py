"""What the resolvers of one request share."""

from typing import TypeAlias

import strawberry

from plait.api.loaders import Loaders
from plait.api.services import ApiServices, Limits
from plait.commands.all import Commands
from plait.graph.readers import Readers


class RequestContext:
    """The services, and the loaders of this request."""

    __slots__ = ("commands", "limits", "loaders", "readers", "services")

    def __init__(self, services: ApiServices) -> None:
        self.services = services
        self.readers: Readers = services.readers
        self.commands: Commands = services.commands
        self.limits: Limits = services.limits
        self.loaders = Loaders(services.readers)

    def forget(self) -> Loaders:
        """Drop what was loaded, because a command has changed the graph. Returns the new, empty loaders."""
        self.loaders = Loaders(self.readers)
        return self.loaders


Info: TypeAlias = strawberry.Info[RequestContext, None]
