import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import type { SourceFiles } from './source-files.ts';

/** An imported program runs in the folder of the config, as promptfoo runs the user’s code. */
export function programOf(
  language: keyof typeof scriptFiles,
  args: readonly string[],
  { folderFromOutput, outputFromFolder }: SourceFiles,
): Readonly<Record<string, unknown>> {
  return {
    command: language === 'python' ? 'python3' : 'node',
    args: [posix.join(outputFromFolder, scriptFiles[language]), ...args],
    ...(folderFromOutput !== '' && { cwd: folderFromOutput }),
  };
}

/** Programs written beside the suites, which run the user's own code unchanged. */
const scriptFiles = { javascript: 'promptfoo-run.mjs', python: 'promptfoo-run.py' } as const;

export function scriptsNamedIn(text: string): readonly { readonly name: string; readonly text: string }[] {
  return [
    { name: scriptFiles.javascript, text: javascriptScript },
    { name: scriptFiles.python, text: pythonScript },
  ].filter(({ name }) => text.includes(name));
}

export type Code = { readonly code: string } | { readonly file: string; readonly member: string };

export function readCode(
  value: string,
  files: SourceFiles,
  endings: readonly string[],
): Code | { readonly fault: string } {
  const script = /^(?:file:\/\/)?([^\n]+?)(?::([\w.]+))?$/.exec(value);
  const name = script?.[1] ?? '';
  const isScript = endings.some((ending) => name.endsWith(`.${ending}`));
  const isFile = value.startsWith('file://');
  if (!isScript)
    return isFile ? { fault: `${value} is in a language that Signalbox does not run` } : { code: value };
  const found = files.find(name);
  if (!('fault' in found)) return { file: found.fromFolder, member: script?.[2] ?? '' };
  return isFile ? found : { code: value };
}

export const javascriptEndings: readonly string[] = ['js', 'cjs', 'mjs'];

/** Environment variables that libraries read implicitly, by a word that identifies the library. */
const implied: readonly (readonly [RegExp, string])[] = [
  [/openai/i, 'OPENAI_API_KEY'],
  [/anthropic/i, 'ANTHROPIC_API_KEY'],
  [/gemini|genai|google/i, 'GEMINI_API_KEY'],
  [/mistral/i, 'MISTRAL_API_KEY'],
  [/groq/i, 'GROQ_API_KEY'],
];

/** The variables that a program or its libraries read. It gets no others. */
export function envNamesOf(text: string): readonly string[] {
  const named =
    /process\.env(?:\.(\w{1,100})|\[['"](\w{1,100})['"]\])|environ(?:\.get\(|\[)\s{0,9}['"](\w{1,100})['"]|getenv\(\s{0,9}['"](\w{1,100})['"]|\{\{\s{0,9}env\.(\w{1,100})/g;
  const found = [...text.matchAll(named)].flatMap(([, ...names]) =>
    names.filter((name) => name !== undefined),
  );
  return [
    ...new Set([...found, ...implied.flatMap(([word, name]) => (word.test(text) ? [name] : []))]),
  ].toSorted();
}

export function envNamesOfFile(file: string): readonly string[] {
  return envNamesOf(readFileSync(file, 'latin1'));
}

/** Scores 1 where promptfoo passes, else 0. */
const javascriptScript = String.raw`#!/usr/bin/env node
// Runs assertions, providers and prompts of promptfoo: assert | exec COMMAND '' OPTIONS | provider FILE MEMBER OPTIONS | http '' '' OPTIONS | prompt FILE MEMBER.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const [mode, file, member, config] = process.argv.slice(2);
const request = JSON.parse(readFileSync(0, 'utf8'));
// What user code prints is no reply.
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

try {
  const made = async () => (mode === 'prompt' ? await promptOf(request.args) : await answer(request.args));
  const reply = mode === 'assert' ? await judge(request) : { result: await made() };
  print(JSON.stringify(reply), () => process.exit(0));
} catch (error) {
  print(JSON.stringify({ error: String(error?.message ?? error) }), () => process.exit(0));
}

async function judge({ params, content, context }) {
  const told = context.metadata ?? {};
  const vars = context.variables ?? {};
  const metadata = told.metadata ?? {};
  const prompt = (context.messages ?? []).findLast(({ role }) => role === 'user')?.content ?? '';
  let output = told.output ?? content;
  const given = { vars, prompt, metadata, config: params.config, test: { vars }, providerResponse: { output, metadata } };
  for (const each of params.transforms ?? []) output = await applied(each, output, given);
  if (params.kind === 'bleu') return { score: bleu(textOf(output), [params.value].flat()) };
  if (params.kind !== undefined) return { score: plain(params, textOf(output)) ? 1 : 0 };
  // Where the score counts towards the threshold of the test, code that fails counts as 0.
  const failed = (error) => {
    if (params.scored) return { pass: params.inverse === true, score: 0, reason: String(error?.message ?? error) };
    throw error;
  };
  return verdict(await applied(params, output, given).catch(failed), params);
}

/** The prompt that a function makes of the variables, as a text and as the messages that it stands for. */
async function promptOf({ vars, provider }) {
  const made = await (await load(file, member))({ vars, provider: { id: provider, label: provider }, config: {} });
  const prompt = made !== null && typeof made === 'object' && 'prompt' in made ? made.prompt : made;
  if (typeof prompt !== 'string' && (prompt === null || typeof prompt !== 'object'))
    throw new Error('a prompt is a text, an object or {prompt}');
  const text = textOf(prompt);
  const known = typeof prompt === 'string' ? (isJson(text) ? JSON.parse(text) : undefined) : prompt;
  return { text, messages: Array.isArray(known) && known.some((each) => each?.role) ? known : text };
}

/** Code, or a function of a file. */
async function applied({ code, file: path, member: name }, output, context) {
  return path === undefined ? await inline(code, output, context) : await (await load(path, name))(output, context);
}

/** Checks of a text that code has changed first. */
function plain({ kind, value, threshold }, text) {
  const [any, all] = kind.startsWith('icontains') ? [text.toLowerCase(), String.prototype.toLowerCase] : [text, String.prototype.toString];
  const holds = (each) => any.includes(all.call(String(each)));
  const list = Array.isArray(value) ? value : String(value).split(',').map((each) => each.trim());
  if (kind === 'levenshtein') return distance(value, text) <= threshold;
  if (kind === 'equals') return typeof value === 'object' ? isDeepStrictEqual(value, JSON.parse(text)) : text === String(value);
  if (/contains-any$/.test(kind)) return list.some(holds);
  if (/contains-all$/.test(kind)) return list.every(holds);
  if (/contains$/.test(kind)) return holds(value);
  if (kind === 'starts-with') return text.startsWith(value);
  if (kind === 'regex') return new RegExp(value).test(text);
  if (kind === 'is-json') return isJson(text);
  if (kind === 'contains-json') return holdsObject(text);
  throw new Error('no such check: ' + kind);
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function textOf(value) {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function inline(code, output, context) {
  const text = code.trimEnd();
  process.mainModule ??= { require: createRequire(process.cwd() + '/') };
  return new Function('output', 'context', 'process', text.includes('\n') ? text : bodyOf(text))(output, context, process);
}

/** A line is an expression, or declarations with an expression behind the last semicolon that parses so. */
function bodyOf(line) {
  const code = line.trim().replace(/;+\s*$/, '');
  if (!/^(const|let|var)\s/.test(code)) return 'return ' + code;
  for (let at = code.lastIndexOf(';'); at > 0; at = code.lastIndexOf(';', at - 1)) {
    const body = code.slice(0, at + 1) + ' return ' + code.slice(at + 1).trim();
    try {
      new Function(body);
      return body;
    } catch {}
  }
  return code;
}

/** 1 where promptfoo passes and else 0; the score itself where that counts towards the threshold of the test. */
function verdict(result, { threshold, scored = false, inverse = false }) {
  const reply = (passed, score, detail) => ({ score: scored ? Math.min(1, Math.max(0, score)) : passed ? 1 : 0, detail });
  if (typeof result === 'boolean') return reply(result !== inverse, result !== inverse ? 1 : 0, '');
  if (typeof result === 'number' && Number.isFinite(result)) {
    const passed = threshold === undefined ? result > 0 : result >= threshold;
    return reply(passed !== inverse, result, 'its score is ' + result);
  }
  if (result === null || typeof result !== 'object' || typeof result.pass !== 'boolean')
    throw new Error('the assertion gave neither a boolean, a number nor {pass, score, reason}');
  const passed = result.pass !== inverse;
  return reply(passed, typeof result.score === 'number' ? result.score : passed ? 1 : 0, String(result.reason ?? ''));
}

/** promptfoo's BLEU: words parted by white space, and 1e-7 in the place of a precision of 0. */
function bleu(text, references) {
  if (text.trim() === '') return 0;
  const words = (each) => each.toLowerCase().trim().split(/\s+/);
  const grams = (list, n) => {
    const counts = new Map();
    for (let at = 0; at + n <= list.length; at += 1) {
      const gram = list.slice(at, at + n).join(' ');
      counts.set(gram, (counts.get(gram) ?? 0) + 1);
    }
    return counts;
  };
  const given = words(text);
  const wanted = references.map(words);
  const near = wanted.map(({ length }) => length).reduce((best, each) => {
    const [a, b] = [Math.abs(each - given.length), Math.abs(best - given.length)];
    return a < b || (a === b && each < best) ? each : best;
  });
  const orders = [1, 2, 3, 4].filter((n) => given.length >= n);
  const logs = orders.map((n) => {
    const own = grams(given, n);
    const found = wanted.map((each) => {
      const known = grams(each, n);
      return [...own].reduce((sum, [gram, count]) => sum + Math.min(count, known.get(gram) ?? 0), 0);
    });
    return Math.log(Math.max(...found) / (given.length - n + 1) || 1e-7);
  });
  const penalty = given.length > near ? 1 : Math.exp(1 - near / given.length);
  return Math.min(1, penalty * Math.exp(logs.reduce((sum, each) => sum + each, 0) / orders.length));
}

/** Whether an object of JSON stands somewhere in a text. */
function holdsObject(text) {
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) {
    let depth = 0;
    for (let end = at; end < Math.min(text.length, at + 100000); end += 1) {
      if (text[end] === '{') depth += 1;
      if (text[end] === '}') depth -= 1;
      if (depth > 0) continue;
      if (isJson(text.slice(at, end + 1))) return true;
      break;
    }
  }
  return false;
}

async function load(path, name) {
  const module = await import(pathToFileURL(path).href);
  const pick = (from) => name.split('.').reduce((value, key) => value?.[key], from);
  const named = name ? (pick(module) ?? pick(module.default)) : undefined;
  const found = named ?? (typeof module.default === 'function' ? module.default : module.default?.default);
  if (typeof found !== 'function') throw new Error(path + ' exports no such function');
  return found;
}

async function answer({ prompt, vars }) {
  const text = textOf(prompt);
  const { transform, ...options } = withEnv(JSON.parse(config));
  const reply = await ask(text, vars, options);
  if (reply?.error) throw new Error(String(reply.error));
  const whole = reply !== null && typeof reply === 'object' && 'output' in reply ? reply : { output: reply };
  const given = { vars, prompt: { raw: text }, metadata: whole.metadata ?? {} };
  const output = transform === undefined ? whole.output : await applied(transform, whole.output, given);
  return { text: textOf(output), output: output ?? null, metadata: whole.metadata ?? {}, cost: whole.cost ?? null };
}

/** The settings with the variables of the environment that they name. */
function withEnv(value) {
  if (typeof value === 'string') return value.replace(/\{\{\s*env\.(\w+)\s*\}\}/g, (_, name) => process.env[name] ?? '');
  if (Array.isArray(value)) return value.map(withEnv);
  return value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withEnv(each)])) : value;
}

async function ask(text, vars, options) {
  if (mode === 'exec') return await run(text, options, { vars });
  if (mode === 'http') return await fetched(text, vars, options.config);
  const Provider = await load(file, member);
  const instance = Provider.prototype?.callApi ? new Provider(options) : undefined;
  return await (instance ? instance.callApi(text, { vars }) : Provider(text, { vars }, options));
}

async function fetched(prompt, vars, { url, method, headers, queryParams, body, transformResponse }) {
  const known = { ...vars, prompt, env: process.env };
  const filled = (value) => (Array.isArray(value) ? value.map(filled) : value && typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filled(each)])) : typeof value === 'string' ? text(value, known) : value);
  const target = new URL(filled(url));
  for (const [key, value] of Object.entries(filled(queryParams ?? {}))) target.searchParams.set(key, value);
  const tree = typeof body === 'string' && isJson(body) ? JSON.parse(body) : body;
  const isTree = tree !== null && typeof tree === 'object';
  const type = Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === 'content-type')?.[1] ?? '';
  const sent = !isTree ? tree && String(filled(tree)) : type.includes('urlencoded') ? new URLSearchParams(filled(tree)).toString() : JSON.stringify(filled(tree));
  const reply = await fetch(target, {
    method: method ?? (sent === undefined ? 'GET' : 'POST'),
    headers: { ...(isTree && type === '' && { 'content-type': 'application/json' }), ...filled(headers ?? {}) },
    ...(sent !== undefined && { body: sent }),
  });
  const got = await reply.text();
  if (!reply.ok) throw new Error('HTTP ' + reply.status + ': ' + got.slice(0, 200));
  const json = isJson(got) ? JSON.parse(got) : undefined;
  if (transformResponse === undefined) return { output: json ?? got };
  if (transformResponse.file !== undefined) return await (await load(transformResponse.file, transformResponse.member))(json, got, { response: { status: reply.status } });
  const made = new Function('json', 'text', 'context', bodyOf(transformResponse.code))(json, got, { response: { status: reply.status } });
  return await (typeof made === 'function' ? made(json, got, { response: { status: reply.status } }) : made);
}

/** A text with its variables; one that is nothing else than a variable keeps the value of it. */
function text(template, known) {
  const at = (path) => path.split('.').reduce((value, key) => (value !== null && typeof value === 'object' && Object.hasOwn(value, key) ? value[key] : undefined), known);
  const only = /^\{\{\s*([\w.]+)\s*\}\}$/.exec(template);
  if (only !== null) {
    const value = at(only[1]) ?? '';
    return typeof value === 'string' && /^\s*[[{]/.test(value) && isJson(value) ? JSON.parse(value) : value;
  }
  return template.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (_, path) => textOf(at(path) ?? ''));
}

function run(text, options, context) {
  const [command, ...args] = [...file.matchAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3]);
  const given = [...args, text, JSON.stringify(options), JSON.stringify(context)];
  return new Promise((resolve, reject) => {
    execFile(command, given, { cwd: options.config?.basePath, maxBuffer: 10485760 }, (error, stdout) =>
      error ? reject(error) : resolve(stdout.trim()),
    );
  });
}

function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next[j] = Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    row = next;
  }
  return row[b.length];
}
`;

const pythonScript = String.raw`#!/usr/bin/env python3
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
