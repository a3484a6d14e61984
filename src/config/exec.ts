import { longestMs } from '../base/time/async.ts';
import type { Path, YamlDocument } from '../base/yaml/document.ts';
import { type Fields, read, readFields, usual } from '../base/yaml/fields.ts';
import { choiceAt, itemsAt, textAt, valueAt } from '../base/yaml/read.ts';
import { omitUndefined } from '../base/yaml/wording.ts';
import { milliseconds } from '../dialects/dialect-config.ts';
import {
  type DialectName,
  dialectNames,
  type ForeignName,
  foreignDialects,
  foreignNames,
  nativeNames,
  toolDialectOf,
  toolDialects,
} from '../dialects/registry.ts';
import type { ProcessConfig, ProcessLimits } from '../process/process-config.ts';
import { piiVariables } from './pii.ts';

export type { DialectName, ForeignName, NativeName } from '../dialects/registry.ts';

/** A process entry as the file declares it, without defaults or resolved paths. */
export interface ExecConfig extends ProcessConfig {
  readonly dialect: DialectName;
  /** The endpoint of a native hook, whose `command` is then empty. */
  readonly endpoint?: EndpointConfig;
}

export interface EndpointConfig {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly ca?: string;
}

/** Limits that apply without an entry or `spec.defaults`. Source: the native protocol. */
export const usualLimits = {
  toolTimeoutMs: 30_000,
  evalTimeoutMs: 30_000,
  hookTimeoutMs: 10_000,
  evalHookTimeoutMs: 5_000,
  graceMs: 2_000,
  drainMs: 500,
  maxOutputBytes: 10 * 1024 * 1024,
} as const;

const count = { type: 'integer', minimum: 1 } as const;
const scalar = ['string', 'number', 'boolean'] as const;
const variable = '^[A-Za-z_][A-Za-z0-9_]*(=[\\s\\S]*)?$';

/** A whole number of units; sizes are in bytes. */
const upTo = (maximum: number, description: string) => ({ ...count, maximum, description }) as const;

/** Linux limits processes to 2^22, and seconds to 31 bits. */
const processLimitKeys = {
  memory_mb: upTo(1_000_000_000, 'MiB of memory for all its processes together. Linux only.'),
  cpu_seconds: upTo(
    2_147_483_000,
    'Seconds of CPU time for each of its processes; for a server, over its whole life.',
  ),
  open_files: upTo(1_000_000_000, 'Files, pipes and connections that each of its processes may have open.'),
  processes: upTo(4_194_304, 'Processes and threads at once, the first one included. Linux only.'),
  file_size_mb: upTo(1_000_000_000, 'MiB for each file that it writes.'),
} as const;

const processLimits = {
  type: 'object',
  additionalProperties: false,
  properties: processLimitKeys,
  [read]: (document: YamlDocument, path: Path): ProcessLimits | undefined => {
    const limits: ProcessLimits = readFields(document, path, processLimitKeys);
    return Object.keys(limits).length === 0 ? undefined : limits;
  },
  description:
    'Limits that the operating system enforces on the process and on everything that it starts. A process that reaches one fails with LIMIT_EXCEEDED. Limits that an entry leaves out come from `spec.defaults`. Default: none.',
} as const;

const limitProperties = {
  timeout_ms: {
    ...milliseconds,
    description: `Milliseconds until an exchange times out, counted from the moment it gets its slot in the pool. Default: ${usualLimits.toolTimeoutMs} for tools and evals, ${usualLimits.hookTimeoutMs} for hooks, ${usualLimits.evalHookTimeoutMs} for eval hooks; foreign hooks have the limits of their own systems.`,
  },
  max_output_bytes: {
    ...count,
    description: `Longest reply in bytes; a longer one fails the call. Default: ${usualLimits.maxOutputBytes}.`,
  },
  grace_ms: {
    type: 'integer',
    minimum: 0,
    maximum: longestMs,
    description: `Milliseconds between SIGTERM and SIGKILL when a process is stopped. Default: ${usualLimits.graceMs}.`,
  },
  leftovers: {
    type: 'string',
    enum: ['kill', 'keep'],
    description:
      'What happens to processes that a finished one-shot process leaves in its process group. Default: kill; keep for foreign dialects.',
  },
  limits: processLimits,
  nice: {
    type: 'integer',
    minimum: 0,
    maximum: 19,
    description:
      'Niceness of the process, as in `nice -n`: on a busy machine, a higher number gives way to others. Default: 0.',
  },
} as const;

const nativeWords =
  'The wire vocabulary. promptkit (default): payload keys in snake_case. promptkit-go: payload keys as PromptKit’s Go program prints them.';

export const toolDialect = {
  type: 'string',
  enum: toolDialects,
  description: [nativeWords, ...toolDialects.flatMap((name) => toolDialectOf(name)?.remark ?? [])].join(' '),
} as const;

export const hookDialect = {
  type: 'string',
  enum: dialectNames,
  description: `${nativeWords} ${listOf(foreignNames.map(nameWithTitle))}: hooks written for those systems, which run unchanged.`,
} as const;

function nameWithTitle(name: ForeignName): string {
  const { title } = foreignDialects[name];
  return title === name ? name : `${name} (${title})`;
}

function listOf(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

const processKeys = {
  command: {
    type: 'string',
    minLength: 1,
    [usual]: '',
    description:
      'The program to start. With a /, a path relative to the folder of this file; otherwise a name on PATH. There is no shell: put arguments into `args`.',
  },
  args: {
    type: 'array',
    items: { type: scalar, [usual]: '' },
    [usual]: [],
    description: 'Arguments of the program, passed as they are. Numbers and booleans keep their spelling.',
  },
  runtime: {
    type: 'string',
    enum: ['exec', 'server', 'fork'],
    [usual]: 'exec',
    description:
      'exec (default): one process per call, one JSON object in and one out. server: one process that keeps running and speaks JSON-RPC 2.0, one object per line. fork: like exec, but forked from a process that has already imported what the script imports; Python only, anything else runs as exec.',
  },
  env: {
    type: 'array',
    items: { type: scalar, pattern: variable },
    [read]: readVariables,
    [usual]: [],
    description:
      'Names of environment variables to pass on, or NAME=value for a literal. Besides these, a process sees only PATH, HOME, LANG, LC_*, TZ, TMPDIR and USER.',
  },
  dialect: {
    type: 'string',
    enum: nativeNames,
    // The schema of each kind restricts the dialects.
    [read]: (document: YamlDocument, path: Path) => choiceAt(document, path, dialectNames),
    [usual]: 'promptkit',
    description: nativeWords,
  },
  ...limitProperties,
  sandbox: {
    type: 'string',
    minLength: 1,
    description: 'Name of a sandbox declared under spec.sandboxes. Default: the process runs directly.',
  },
  cwd: {
    type: 'string',
    minLength: 1,
    description: 'Folder in which the process starts, relative to this file’s. Default: this file’s folder.',
  },
  concurrency: {
    ...count,
    description: 'Exchanges of this entry that may run at once. Default: no limit of its own.',
  },
  instances: {
    ...count,
    description: 'Processes of a server; calls are spread over them. Needs `runtime: server`. Default: 1.',
  },
  warm: {
    type: ['boolean', 'integer'],
    minimum: 1,
    maximum: 64,
    description:
      'A number, without `runtime: server`: how many processes start ahead of time and wait for a request on stdin; each still serves one. true, with `runtime: server` or `fork`: the process that stays starts with the runtime instead of on the first call. Default: false.',
  },
} as const;

/** The keys of every entry that starts a process: a tool's `exec`, an eval, a hook. */
export const execProperties = {
  ...processKeys,
  on_failure: {
    type: 'string',
    enum: ['deny'],
    description:
      'What happens when the process of a filter fails. deny: the call is denied. Default: the rule of the dialect: native hooks always deny, foreign ones may let the call pass.',
  },
} as const;

export const defaultProperties = {
  ...limitProperties,
  on_failure: {
    type: 'string',
    enum: ['deny'],
    description:
      'deny: calls are denied that the foreign system would let pass because a hook failed. Default: the rules of that system.',
  },
} as const;

export const warmServer = { properties: { warm: { not: { type: 'integer' } } } } as const;

export const runtimeRules = [
  {
    if: { properties: { runtime: { const: 'fork' } }, required: ['runtime'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { instances: false, warm: { not: { type: 'integer' } } } },
  },
  {
    if: { properties: { runtime: { const: 'exec' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { instances: false, warm: { not: { const: true } } } },
  },
  {
    if: { properties: { runtime: { const: 'server' } }, required: ['runtime'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: warmServer,
  },
] as const;

const execSchema = {
  type: 'object',
  description: 'A program and how to run it.',
  additionalProperties: false,
  required: ['command'],
  properties: execProperties,
  allOf: runtimeRules,
} as const;

/** The maximum length of an argument. */
const scriptText = { type: 'string', pattern: '\\S', maxLength: 100_000 } as const;

const scriptRule = {
  if: { required: ['script'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { command: false, args: false, runtime: { enum: ['exec', 'server'] } } },
  else: { required: ['command'] },
} as const;

/** A process reads a whole request at once, and a failure loses all its cases. */
const largestBatch = 1000;

export const evalSchema = {
  ...execSchema,
  required: [],
  properties: {
    ...execProperties,
    script: {
      type: 'object',
      description:
        'Code instead of `command`: it scores `content`, with `params` and `context`, and gives a number from 0 to 1, true or false. It is an expression, or the body of a function with `return`. It runs in a process like any other eval.',
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 1,
      properties: {
        python: { ...scriptText, description: 'Python, run by python3.' },
        javascript: { ...scriptText, description: 'JavaScript, run by node.' },
      },
    },
    batch: {
      ...count,
      maximum: largestBatch,
      description:
        'Most cases that a suite sends in one request. The program answers {"results": […]}; see docs/reference/protocols/promptkit.md. Default: 1, in the form of a single request.',
    },
  },
  allOf: [...runtimeRules, scriptRule],
} as const;

export const toolExecSchema = {
  ...execSchema,
  properties: { ...execProperties, dialect: toolDialect },
} as const;

export type DefaultsConfig = Fields<typeof defaultProperties>;

export function readDefaults(document: YamlDocument): DefaultsConfig {
  return readFields(document, ['spec', 'defaults'], defaultProperties);
}

/** `refused`: why the process must never start. `timeoutMs`: its default timeout. */
export function readExec(
  document: YamlDocument,
  path: Path,
  { refused, timeoutMs }: { refused: string | undefined; timeoutMs?: number | undefined },
): ExecConfig {
  const exec = readFields(document, path, processKeys);
  const own = new Set(exec.env.map(nameOf));
  const variables = piiVariables(document, [exec.command, ...exec.args]).filter(
    (entry) => !own.has(nameOf(entry)),
  );
  return {
    ...exec,
    env: [...variables, ...exec.env],
    ...omitUndefined({ timeoutMs: exec.timeoutMs ?? timeoutMs, refused }),
    position: document.positionOf([...path, 'command']),
  };
}

function nameOf(entry: string): string {
  return entry.split('=', 1)[0] ?? '';
}

/** Omits a text that is neither a name nor NAME=value, which `validate` reports. */
function readVariables(document: YamlDocument, path: Path): readonly string[] {
  return itemsAt(document, path).flatMap((item) => {
    const value = valueAt(document, item);
    return typeof value === 'string' && !variablePattern.test(value) ? [] : (textAt(document, item) ?? []);
  });
}

const variablePattern = new RegExp(variable);

export interface EvalConfig {
  readonly name: string;
  readonly exec: ExecConfig;
  /** The maximum number of cases per request; absent: one. */
  readonly batch?: number;
}

export function foreignAt(document: YamlDocument, path: Path): ForeignName | undefined {
  return choiceAt(document, [...path, 'dialect'], foreignNames);
}
