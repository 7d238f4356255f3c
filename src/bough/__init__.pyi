"""The public names, for type checkers and editors; `__init__.py` loads each at its first use."""

from bough import aio as aio
from bough.answers import (
    Answers as Answers,
)
from bough.engines import (
    connect as connect,
)
from bough.errors import (
    Ambiguous as Ambiguous,
)
from bough.errors import (
    BoughError as BoughError,
)
from bough.errors import (
    Busy as Busy,
)
from bough.errors import (
    ChannelError as ChannelError,
)
from bough.errors import (
    ConfigError as ConfigError,
)
from bough.errors import (
    Conflict as Conflict,
)
from bough.errors import (
    Corrupt as Corrupt,
)
from bough.errors import (
    CursorExpired as CursorExpired,
)
from bough.errors import (
    FormatError as FormatError,
)
from bough.errors import (
    Full as Full,
)
from bough.errors import (
    ImporterError as ImporterError,
)
from bough.errors import (
    Invalid as Invalid,
)
from bough.errors import (
    NotFound as NotFound,
)
from bough.errors import (
    ProviderError as ProviderError,
)
from bough.errors import (
    Refused as Refused,
)
from bough.errors import (
    SchemaTooNew as SchemaTooNew,
)
from bough.errors import (
    StorageError as StorageError,
)
from bough.errors import (
    ToolError as ToolError,
)
from bough.model.blocks import (
    Block as Block,
)
from bough.model.blocks import (
    Media as Media,
)
from bough.model.blocks import (
    Other as Other,
)
from bough.model.blocks import (
    Text as Text,
)
from bough.model.blocks import (
    Thinking as Thinking,
)
from bough.model.blocks import (
    ToolCall as ToolCall,
)
from bough.model.blocks import (
    ToolResult as ToolResult,
)
from bough.model.blocks import (
    tool_call as tool_call,
)
from bough.model.branches import (
    Branch as Branch,
)
from bough.model.branches import (
    Comparison as Comparison,
)
from bough.model.branches import (
    PathWindow as PathWindow,
)
from bough.model.branches import (
    Segment as Segment,
)
from bough.model.keys import (
    cli_key as cli_key,
)
from bough.model.keys import (
    delegate_key as delegate_key,
)
from bough.model.keys import (
    discord_key as discord_key,
)
from bough.model.keys import (
    parse_key as parse_key,
)
from bough.model.keys import (
    telegram_key as telegram_key,
)
from bough.model.messages import (
    Message as Message,
)
from bough.model.messages import (
    Save as Save,
)
from bough.model.messages import (
    assistant as assistant,
)
from bough.model.messages import (
    system as system,
)
from bough.model.messages import (
    tool_result as tool_result,
)
from bough.model.messages import (
    user as user,
)
from bough.model.nodes import (
    Change as Change,
)
from bough.model.nodes import (
    Document as Document,
)
from bough.model.nodes import (
    Finding as Finding,
)
from bough.model.nodes import (
    Headline as Headline,
)
from bough.model.nodes import (
    Hit as Hit,
)
from bough.model.nodes import (
    Node as Node,
)
from bough.model.nodes import (
    Pin as Pin,
)
from bough.model.nodes import (
    SessionInfo as SessionInfo,
)
from bough.model.nodes import (
    Size as Size,
)
from bough.model.nodes import (
    TrashEntry as TrashEntry,
)
from bough.model.nodes import (
    TurnInfo as TurnInfo,
)
from bough.model.nodes import (
    Undoable as Undoable,
)
from bough.model.previews import (
    SessionPreview as SessionPreview,
)
from bough.model.search import (
    Facet as Facet,
)
from bough.model.search import (
    Facets as Facets,
)
from bough.model.search import (
    Hits as Hits,
)
from bough.model.search import (
    IndexStatus as IndexStatus,
)
from bough.model.search import (
    Query as Query,
)
from bough.model.search import (
    Term as Term,
)
from bough.model.search_query import (
    parse_query as parse_query,
)
from bough.model.traces import (
    Trace as Trace,
)
from bough.model.tree import (
    Tree as Tree,
)
from bough.model.turns import (
    SaveTurn as SaveTurn,
)
from bough.model.usage import (
    ReplyInfo as ReplyInfo,
)
from bough.model.usage import (
    Totals as Totals,
)
from bough.model.usage import (
    Usage as Usage,
)
from bough.model.values import (
    asdict as asdict,
)
from bough.model.values import (
    replace as replace,
)
from bough.protocols import (
    MessageDB as MessageDB,
)
from bough.protocols import (
    MessagesDeleter as MessagesDeleter,
)
from bough.protocols import (
    MessagesGetter as MessagesGetter,
)
from bough.protocols import (
    MessagesLister as MessagesLister,
)
from bough.protocols import (
    MessagesSaver as MessagesSaver,
)
from bough.protocols import (
    get_dialog as get_dialog,
)
from bough.recorder import (
    Kept as Kept,
)
from bough.recorder import (
    Recorder as Recorder,
)
from bough.session import (
    Session as Session,
)
from bough.store import (
    Store as Store,
)
from bough.turn import (
    Turn as Turn,
)

__version__: str
__all__: list[str]
