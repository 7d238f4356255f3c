"""The published conformance suite of checkpointers, on `AsyncBoughSaver`."""

import asyncio
import json

from langgraph.checkpoint.conformance import checkpointer_test, validate

from bough.adapters.langgraph import AsyncBoughSaver


@checkpointer_test(name="bough")
async def saver():
    async with AsyncBoughSaver.from_conn_string(":memory:") as made:
        yield made


results = asyncio.run(validate(saver)).to_dict()["results"]
absent = [f"{name}: absent" for name, result in results.items() if not result["detected"]]
failed = [f"{name}: {failure}" for name, result in results.items() for failure in result["failures"]]
print(json.dumps({"passed": sum(result["tests_passed"] for result in results.values()), "failed": absent + failed}))
