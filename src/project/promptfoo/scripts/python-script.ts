/** `promptfoo-run.py`, which runs the user's Python unchanged. */
export const pythonScript = String.raw`#!/usr/bin/env python3
"""Runs assertions, providers and prompts of promptfoo: assert | provider FILE MEMBER CONFIG | prompt FILE MEMBER."""
import asyncio
import importlib.util
import inspect
import json
import os
import re
import subprocess
import sys

reply_to = sys.stdout
sys.stdout = sys.stderr  # what user code prints is no reply


def load(path, member):
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("promptfoo_user_code", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, member)


def call(function, *args):
    result = function(*args)
    return asyncio.run(result) if inspect.isawaitable(result) else result


def judge(request):
    params, known = request["params"], request.get("context") or {}
    told, variables = known.get("metadata") or {}, known.get("variables") or {}
    content = request["content"] if told.get("output") is None else told["output"]
    metadata = told.get("metadata") or {}
    context = {"vars": variables, "config": params.get("config"), "test": {"vars": variables},
               "metadata": metadata, "providerResponse": {"output": content, "metadata": metadata}}
    if "file" in params:
        result = call(load(params["file"], params["member"] or "get_assert"), content, context)
    else:
        result = inline(params["code"].rstrip(), content, context)
    return verdict(result, params.get("threshold"))


def inline(code, output, context):
    scope = {"json": json}
    lines = code.split("\n")
    body = lines if len(lines) > 1 else ["return " + code]
    exec("def main(output, context):\n" + "\n".join("    " + line for line in body), scope)
    return call(scope["main"], output, context)


def verdict(result, threshold):
    if isinstance(result, bool):
        return {"score": 1 if result else 0}
    if isinstance(result, (int, float)):
        passed = result >= threshold if threshold else result > 0
        return {"score": 1 if passed else 0, "detail": "its score is %s" % result}
    if not isinstance(result, dict) or not isinstance(result.get("pass", result.get("pass_")), bool):
        raise ValueError("the assertion gave neither a boolean, a number nor {pass, score, reason}")
    passed = result.get("pass", result.get("pass_"))
    if threshold is not None and result.get("score", 1) < threshold:
        passed = False
    return {"score": 1 if passed else 0, "detail": str(result.get("reason", ""))}


def with_env(value):
    if isinstance(value, str):
        return re.sub(r"\{\{\s*env\.(\w+)\s*\}\}", lambda found: os.environ.get(found.group(1), ""), value)
    if isinstance(value, list):
        return [with_env(each) for each in value]
    return {key: with_env(each) for key, each in value.items()} if isinstance(value, dict) else value


def prompt_of(args):
    context = {"vars": args["vars"], "provider": {"id": args.get("provider"), "label": args.get("provider")}, "config": {}}
    path, member = sys.argv[2], sys.argv[3]
    if member:
        made = call(load(path, member), context)
    else:
        # A file without a function is a program that prints its prompt.
        done = subprocess.run([sys.executable, path, json.dumps(context)], stdout=subprocess.PIPE, check=True)
        made = done.stdout.decode().strip()
    prompt = made["prompt"] if isinstance(made, dict) and "prompt" in made else made
    text = prompt if isinstance(prompt, str) else json.dumps(prompt)
    try:
        known = json.loads(text)
    except ValueError:
        known = None
    is_chat = isinstance(known, list) and any(isinstance(each, dict) and "role" in each for each in known)
    return {"text": text, "messages": known if is_chat else text}


def answer(args):
    path, member, options = sys.argv[2], sys.argv[3], with_env(json.loads(sys.argv[4]))
    prompt = args["prompt"] if isinstance(args["prompt"], str) else json.dumps(args["prompt"])
    reply = call(load(path, member or "call_api"), prompt, options, {"vars": args["vars"]})
    if isinstance(reply, dict) and reply.get("error"):
        raise ValueError(str(reply["error"]))
    whole = reply if isinstance(reply, dict) and "output" in reply else {"output": reply}
    output = whole["output"]
    return {"text": output if isinstance(output, str) else json.dumps(output), "output": output,
            "metadata": whole.get("metadata") or {}, "cost": whole.get("cost")}


try:
    request = json.load(sys.stdin)
    make = prompt_of if sys.argv[1] == "prompt" else answer
    answered = judge(request) if sys.argv[1] == "assert" else {"result": make(request["args"])}
except Exception as error:
    answered = {"error": "%s: %s" % (type(error).__name__, error)}
json.dump(answered, reply_to)
`;
