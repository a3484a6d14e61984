import { basename } from 'node:path';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { choiceAt, nonEmptyTextAt } from '../base/yaml/read.ts';

interface InlineScript {
  readonly language: ScriptLanguage;
  readonly code: string;
  readonly path: Path;
}

export function findScriptAt(document: YamlDocument, path: Path): InlineScript | undefined {
  for (const language of scriptLanguages) {
    const at = [...path, 'script', language];
    const code = nonEmptyTextAt(document, at);
    if (code !== undefined) return { language, code, path: at };
  }
  return undefined;
}

/** The process that runs the script. Its errors name the file and line where the script begins. */
export function readScript(document: YamlDocument, path: Path) {
  const script = findScriptAt(document, path);
  if (script === undefined) return undefined;
  const { command, args } = scriptPrograms[script.language];
  const position = document.positionOf(script.path);
  const place = `${basename(position.file)}:${position.line}`;
  const mode = choiceAt(document, [...path, 'runtime'], ['server']) ?? 'once';
  return { command, args: [...args, script.code, place, mode], position };
}

export const scriptLanguages = ['python', 'javascript'] as const;
export type ScriptLanguage = (typeof scriptLanguages)[number];

interface ScriptProgram {
  readonly command: string;
  readonly args: readonly string[];
}

/*
 * Each program reads requests as any eval does, `once` or as a JSON-RPC server. The script sees `content`, `params` and
 * `context`. Its output goes to stderr, so that it cannot replace the answer. A script that is not an expression is a
 * function body.
 */

const python = `
import json, sys
code, place, mode = sys.argv[1:4]
out, sys.stdout = sys.stdout, sys.stderr
names = "content, params, context"
def compiled():
    try:
        return eval(compile("lambda " + names + ": (" + code + "\\n)", place, "eval"))
    except SyntaxError:
        scope = {}
        body = "".join("    " + line + "\\n" for line in code.splitlines())
        exec(compile("def score(" + names + "):\\n" + body, place, "exec"), scope)
        return scope["score"]
def explain(problem):
    return {"error": place + ": " + type(problem).__name__ + ": " + str(problem)}
try:
    function, broken = compiled(), None
except Exception as problem:
    function, broken = None, explain(problem)
def judge(case):
    if broken: return broken
    try:
        value = function(case["content"], case.get("params", {}), case.get("context", {}))
        if isinstance(value, bool): value = int(value)
        if isinstance(value, (int, float)): value = {"score": value}
        if not isinstance(value, dict): raise TypeError("the script gave " + type(value).__name__ + ", not a number or a bool")
        json.dumps(value)
        return value
    except BaseException as problem:
        if isinstance(problem, KeyboardInterrupt): raise
        return explain(problem)
def reply(request):
    isBatch = isinstance(request, dict) and "batch" in request
    return {"results": [judge(case) for case in request["batch"]]} if isBatch else judge(request)
def write(value):
    out.write(json.dumps(value) + "\\n"); out.flush()
for stream in (sys.stdin, out): stream.reconfigure(encoding="utf-8", errors="surrogatepass")
if mode == "server":
    for line in sys.stdin:
        try: request = json.loads(line)
        except ValueError: continue
        write({"jsonrpc": "2.0", "id": request.get("id"), "result": reply(request.get("params", {}))})
else:
    write(reply(json.load(sys.stdin)))
`;

const javascript = `
const [code, place, mode] = process.argv.slice(1);
console.log = console.info = console.debug = console.error;
const write = (value) => new Promise((done) => process.stdout.write(JSON.stringify(value) + '\\n', done));
const explain = (problem) => ({ error: place + ': ' + (problem instanceof Error ? problem.name + ': ' + problem.message : String(problem)) });
const names = ['content', 'params', 'context'];
let score, broken;
try {
  try { score = new Function(...names, 'return (' + code + '\\n)'); }
  catch { score = new (async () => {}).constructor(...names, code); }
} catch (problem) { broken = explain(problem); }
const judge = async ({ content, params = {}, context = {} }) => {
  if (broken) return broken;
  if (typeof content !== 'string') return explain('the request has no content');
  try {
    let value = await score(content, params, context);
    if (typeof value === 'boolean') value = Number(value);
    if (typeof value === 'number') value = { score: value };
    if (value === null || typeof value !== 'object') throw new TypeError('the script gave ' + String(value) + ', not a number or a boolean');
    if (typeof value.score === 'number' && !Number.isFinite(value.score)) throw new TypeError('the script gave ' + value.score);
    JSON.stringify(value);
    return value;
  } catch (problem) { return explain(problem); }
};
const reply = async (request) => {
  if (!request.batch) return judge(request);
  const results = [];
  for (const each of request.batch) results.push(await judge(each));
  return { results };
};
if (mode === 'server') {
  let rest = '';
  const answer = async (line) => {
    let request;
    try { request = JSON.parse(line); } catch { return; }
    await write({ jsonrpc: '2.0', id: request.id, result: await reply(request.params ?? {}) });
  };
  // readline would also split at U+2028.
  process.stdin.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\\n');
    rest = lines.pop();
    lines.forEach(answer);
  });
} else {
  const chunks = [];
  process.stdin.on('data', (chunk) => chunks.push(chunk)).on('end', async () => {
    await write(await reply(JSON.parse(Buffer.concat(chunks).toString()) ?? {}));
    process.exit(0);
  });
}
`;

export const scriptPrograms: Readonly<Record<ScriptLanguage, ScriptProgram>> = {
  python: { command: 'python3', args: ['-c', python] },
  javascript: { command: 'node', args: ['-e', javascript, '--'] },
};
