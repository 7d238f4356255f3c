"""pytest plugin: the repository of the tests of Strands' session manager forwards to `BoughSessionRepository`."""

import tests.fixtures.mock_session_repository as module
from strands.session.session_repository import SessionRepository

from bough.adapters.strands import BoughSessionRepository

original = module.MockedSessionRepository


class MockedSessionRepository(original):
    """One test replaces a method of the class, so that the methods are here."""

    def __init__(self):
        self._repository = BoughSessionRepository(":memory:")

    def __getattr__(self, name):
        return getattr(self.__dict__["_repository"], name)


def forward(name):
    return lambda self, *args, **kwargs: getattr(self._repository, name)(*args, **kwargs)


for method in (name for name in dir(SessionRepository) if not name.startswith("_")):
    setattr(MockedSessionRepository, method, forward(method))
module.MockedSessionRepository = MockedSessionRepository
