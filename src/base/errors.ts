/** The error codes, as docs/reference/errors.md shows them. */
export const catalogue = {
  USAGE: {
    summary: 'The command line or the library call is not valid.',
    hint: 'Run the command with --help to see its arguments.',
  },
  PLATFORM_UNSUPPORTED: {
    summary: 'Signalbox does not run on this version of Node.js, or on Bun.',
    hint: 'Use Node.js 22.18 or newer, for example with `npm i -D node@24`; `node --version` prints the version in use.',
    page: 'docs/start/install.md',
  },
  FILE_UNREADABLE: {
    summary: 'A file that the call names does not exist, or cannot be read or written.',
    hint: 'Check the path; relative paths start from the current folder.',
  },
  CONFIG_INVALID: {
    summary: 'A configuration file has problems; each is listed with its file, line and column.',
    hint: 'Run `signalbox validate` to see every problem at once.',
    page: 'docs/guides/check-a-config.md',
  },
  DATASET_INVALID: {
    summary: 'A row of a dataset cannot be read or does not fit the suite.',
    hint: 'Correct the row: the message names its file and line.',
    page: 'docs/guides/load-cases.md',
  },
  EXPRESSION_FAILED: {
    summary: 'A ${…} expression could not be evaluated, or gave a value of the wrong type.',
    hint: 'Correct the expression: the message shows it, or names the key that contains it.',
    page: 'docs/reference/pipelines.md',
  },
  NAME_UNKNOWN: {
    summary: 'No tool, eval or hook with that name is declared.',
    hint: 'Run `signalbox tool list`, or look at spec.tools, spec.evals and spec.hooks.',
  },
  EVENT_INVALID: {
    summary: 'The event does not have the shape that its hook and phase require.',
    hint: 'Compare the event with the payload of its phase.',
    page: 'docs/guides/write-hooks.md',
  },
  ARGS_INVALID: {
    summary: 'The arguments of a tool call are not one JSON object that fits its input_schema.',
    hint: 'Correct the arguments; no process was started.',
  },
  RESULT_INVALID: {
    summary:
      'The result of a tool does not fit its output_schema, or is not in blocks of MCP as it declares.',
    hint: 'Correct the tool or its output_schema.',
    page: 'docs/guides/write-tools.md',
  },
  TOOL_ERROR: {
    summary: 'The tool itself reported an error.',
    hint: 'The message comes from the tool: correct the tool or its input.',
    page: 'docs/guides/write-tools.md',
  },
  EVAL_ERROR: {
    summary: 'The eval itself reported an error instead of a score.',
    hint: 'The message comes from the eval. An eval that cannot judge a text answers {"abstain": "reason"}.',
    page: 'docs/guides/write-evals.md',
  },
  TOOL_NOT_RUNNABLE: {
    summary: 'The tool is declared without an exec binding, so there is nothing to run.',
    hint: 'Add `exec: {command: …}` to the tool.',
    page: 'docs/guides/write-tools.md',
  },
  PROCESS_START: {
    summary: 'The process could not be started.',
    hint: 'Check that the command exists, is executable and has a #! line.',
    page: 'docs/operate/troubleshooting.md',
  },
  ADDRESS_REFUSED: {
    summary:
      'A URL leads to an address of a private network or of this machine, which the config does not allow.',
    hint: 'If this is meant, add the host to `spec.private_hosts`.',
    page: 'docs/operate/limits.md',
  },
  LOGIN_REQUIRED: {
    summary: 'An MCP server needs a person to log in.',
    hint: 'Run `signalbox mcp login NAME`.',
    page: 'docs/guides/log-in-at-mcp-servers.md',
  },
  AUTH_FAILED: {
    summary: 'An MCP server or its authorization server refused the credentials of the config, or a login.',
    hint: 'Check `auth` of the server in the config.',
    page: 'docs/guides/log-in-at-mcp-servers.md',
  },
  SANDBOX_FAILED: {
    summary:
      'The sandbox of an entry is missing, could not be set up, or does not contain the command. Nothing was run.',
    hint: 'The message says what is missing.',
    page: 'docs/guides/sandbox-programs.md',
  },
  PROCESS_EXIT: {
    summary: 'The process ended with an exit code other than 0.',
    hint: 'Correct the program: its stderr says why.',
  },
  PROCESS_SIGNAL: {
    summary: 'A signal ended the process.',
    hint: 'Read its stderr, in the log or in details.stderr.',
    page: 'docs/operate/troubleshooting.md',
  },
  PROCESS_TIMEOUT: {
    summary: 'The process did not answer within timeout_ms.',
    hint: 'Raise timeout_ms, or find out what the process waits for.',
    page: 'docs/operate/troubleshooting.md',
  },
  OUTPUT_LIMIT: {
    summary: 'The process wrote more than max_output_bytes.',
    hint: 'Raise max_output_bytes, or write less to stdout.',
    page: 'docs/reference/processes.md',
  },
  LIMIT_EXCEEDED: {
    summary: 'The process was stopped because it reached one of its limits; the message says which one.',
    hint: 'Raise that number under `limits`, or find out why the process needs so much.',
    page: 'docs/reference/processes.md',
  },
  REPLY_MALFORMED: {
    summary: 'The reply is not the one JSON object that the dialect requires.',
    hint: 'Print the reply to stdout and nothing else; log to stderr.',
    page: 'docs/operate/troubleshooting.md',
  },
  SERVER_EXIT: {
    summary: 'The server process ended before it answered the request.',
    hint: 'The next call starts it again; the message has the last line of its stderr.',
    page: 'docs/guides/keep-a-process-alive.md',
  },
  SERVER_CIRCUIT_OPEN: {
    summary: 'The server ended too often without a valid reply, so calls to it are paused.',
    hint: 'Repair the server; after the pause, one call tries it again.',
    page: 'docs/guides/keep-a-process-alive.md',
  },
  SERVER_BUSY: {
    summary: 'More than max_output_bytes of requests wait for the server to read them.',
    hint: 'The server reads too slowly; lower the concurrency or repair the server.',
    page: 'docs/guides/keep-a-process-alive.md',
  },
  DEFINITION_UNACCEPTED: {
    summary:
      'A tool of an MCP server is new, has changed, or was never accepted by a person, so the call was not made.',
    hint: 'Read and accept what the server sends with `signalbox mcp pin NAME`.',
    page: 'docs/operate/pins.md',
  },
  REJECTED: {
    summary: 'A person rejected the call, so the tool was not run.',
    hint: 'The message has the reason that the person gave.',
    page: 'docs/guides/ask-a-person.md',
  },
  PENDING_EXPIRED: {
    summary: 'Nobody decided about the pending call in time, so the tool was not run.',
    hint: 'Call again, and decide before it expires.',
    page: 'docs/guides/ask-a-person.md',
  },
  PENDING_DECIDED: {
    summary: 'Somebody else has already decided the pending call.',
    hint: 'The message has that decision; `signalbox pending show` shows the details.',
    page: 'docs/guides/ask-a-person.md',
  },
  PENDING_CHANGED: {
    summary:
      'The pending call has changed since it was shown to the person who decides: somebody else has approved it.',
    hint: 'Look at it again, and decide again.',
    page: 'docs/reference/approvals.md',
  },
  REMOTE_FAILED: {
    summary: 'The console of --remote cannot be reached, or did not answer as a console.',
    hint: 'Check the address of --remote, and that `signalbox console` or `signalbox serve` runs there.',
    page: 'docs/reference/command-line.md',
  },
  OWN_CALL: {
    summary: 'The credential that made a call cannot decide about it.',
    hint: 'Somebody else must decide, with a key of their own.',
    page: 'docs/reference/approvals.md',
  },
  PROVIDER_UNUSABLE: {
    summary: 'The provider cannot be used as it is declared, or its API key is missing.',
    hint: 'Correct its entry in spec.providers.',
    page: 'docs/reference/providers.md',
  },
  PROVIDER_FAILED: {
    summary: 'The model’s API answered with an error, ended its answer too early, or could not be reached.',
    hint: 'The message has the status and the text of the API.',
    page: 'docs/reference/providers.md',
  },
  PROVIDER_TIMEOUT: {
    summary: 'The model’s API did not answer within request_timeout.',
    hint: 'Raise request_timeout, or find out why the API is slow.',
    page: 'docs/reference/providers.md',
  },
  BUDGET_EXCEEDED: {
    summary: 'The model calls of the run, or of the case, have spent its budget. This call was not made.',
    hint: 'Raise --max-cost, or max_cost of the suite; --resume continues the run.',
    page: 'docs/guides/limit-costs.md',
  },
  REPLAY_MISS: {
    summary: 'The recording has no answer for this call of a model or a process.',
    hint: 'Record again with `--record FILE`; the message says what differs.',
    page: 'docs/guides/record-and-replay.md',
  },
  DENIED: {
    summary: 'A hook denied the model call or withheld its answer.',
    hint: 'The message names the hook and its reason.',
  },
  STEP_TIMEOUT: {
    summary: 'A step of a pipeline took longer than its timeout_ms.',
    hint: 'Raise timeout_ms of the step, or find out what it waits for.',
    page: 'docs/reference/pipelines.md',
  },
  LOOP_EXHAUSTED: {
    summary: 'The condition of a `while` step was still true after `max` runs of it.',
    hint: 'Raise max, or find out why the condition does not become false.',
    page: 'docs/reference/pipelines.md',
  },
  ROUNDS_EXHAUSTED: {
    summary: 'A chat still requested tool calls after max_rounds model calls.',
    hint: 'Raise max_rounds, or offer fewer tools.',
    page: 'docs/reference/pipelines.md',
  },
  OUTPUT_INVALID: {
    summary: 'The answer of a chat does not fit its output schema.',
    hint: 'The message has the path of the first value that does not fit, and the beginning of the answer.',
    page: 'docs/reference/pipelines.md',
  },
  THRESHOLD_MISSED: {
    summary: 'An eval that gates the pipeline scored outside its threshold, or could not be scored.',
    hint: 'The message has the score and the detail from the eval.',
    page: 'docs/reference/pipelines.md',
  },
  INPUT_INVALID: {
    summary: 'The input of a pipeline does not fit the input schema of its file.',
    hint: 'Correct --input; nothing was run.',
    page: 'docs/reference/pipelines.md',
  },
  ENV_MISSING: {
    summary: 'An environment variable that a pipeline reads is not set.',
    hint: 'Set it, or name a file that sets it in spec.env_file of the RuntimeConfig; no step has started.',
    page: 'docs/guides/configure-environments.md',
  },
  STORE_FAILED: {
    summary: 'The state store cannot be opened, read or written. Nothing that needs it was done.',
    hint: 'Check that the folder of spec.state_store is writable and its disk has room.',
    page: 'docs/operate/state.md',
  },
  RUN_UNKNOWN: {
    summary: 'The state store has no run or pending call with that id.',
    hint: '`signalbox runs list` shows the runs. Each config has its own runs: name the config with --config FILE.',
  },
  RUN_ID_TAKEN: {
    summary: 'A run with that id already exists, with another pipeline or another input.',
    hint: 'Give every start its own id; `signalbox runs show` shows the existing run.',
  },
  CALL_ID_TAKEN: {
    summary: 'The same caller has given this id to another call: another tool, or other arguments.',
    hint: 'Give every call its own id; the same id with the same arguments returns the same outcome for 24 hours.',
  },
  RUN_BUSY: {
    summary: 'Another process is executing the run.',
    hint: 'Wait until it ends or pauses; `signalbox runs show` shows its progress.',
  },
  RUN_ENDED: {
    summary: 'The run has ended, so it can be neither resumed nor cancelled.',
    hint: 'Start a new run.',
  },
  RUN_NOT_RETRYABLE: {
    summary: 'The run did not fail and was not denied, so it cannot be retried.',
    hint: 'The message has the status of the run; `signalbox runs show` says what you can do.',
    page: 'docs/guides/retry-runs.md',
  },
  WORKER_FAILED: {
    summary: 'Workers could not judge a part of a suite’s dataset.',
    hint: 'Give all workers the same files and programs, and continue with --resume.',
    page: 'docs/operate/suite-workers.md',
  },
  KEY_UNKNOWN: {
    summary: 'There is no gateway key with that name or id.',
    hint: '`signalbox keys list` shows the keys. Each config has its own keys: name the config with --config FILE.',
    page: 'docs/guides/limit-callers.md',
  },
  LISTEN_FAILED: {
    summary: 'The server cannot listen on that address, or must not without keys.',
    hint: 'Choose another address with `--listen HOST:PORT`; port 0 takes any free port.',
  },
  ABORTED: {
    summary: 'The caller cancelled the call before it was answered.',
    hint: 'Repeat the call if you need its result.',
  },
  STOP_TIMEOUT: {
    summary:
      'The command did not stop in time after it was asked to, so everything that still ran was killed.',
    hint: 'Find out what delayed it: a slow reader of stdout, a locked store, a long grace_ms. --stop-timeout allows more time.',
  },
  RUNTIME_CLOSED: {
    summary: 'The runtime was closed before the call, or before it was answered.',
    hint: 'Open a new runtime.',
  },
  NESTING_TOO_DEEP: {
    summary: 'A value has more levels of lists and objects than can be processed, or contains itself.',
    hint: 'Flatten the value, or pass it as text.',
  },
  INTERNAL: {
    summary: 'Signalbox itself failed.',
    hint: 'Please report this with the message and the stack.',
  },
} as const satisfies Record<string, CatalogueRow>;

interface CatalogueRow {
  readonly summary: string;
  readonly hint: string;
  /** The page that helps, as its path in the package. The command line prints it after the hint. */
  readonly page?: `docs/${string}.md`;
}

export type ErrorCode = keyof typeof catalogue;

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(catalogue, text);
}

export function pageOf(code: ErrorCode): string | undefined {
  const row: CatalogueRow = catalogue[code];
  return row.page;
}

/** A failure as data. Outcomes with status failed, unscored or denied carry it if an error caused them. */
export interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
  /** Further data, such as `stderr`. The message is complete without it. */
  readonly details?: Readonly<Record<string, unknown>>;
}

export interface RuntimeErrorOptions {
  readonly hint?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** The only error class. It reports failures of Signalbox or its caller; a peer's answer is a value, not an error. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError';
  readonly code: ErrorCode;
  readonly hint: string;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: RuntimeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? catalogue[code].hint;
    this.details = options.details ?? {};
  }
}

/**
 * Converts a thrown value; a RuntimeError is returned unchanged. A stack overflow becomes NESTING_TOO_DEEP, since only
 * deeply nested input can cause one. Exhausted system resources become FILE_UNREADABLE instead of INTERNAL.
 */
export function toRuntimeError(thrown: unknown, code: ErrorCode = 'INTERNAL'): RuntimeError {
  if (thrown instanceof RuntimeError) return thrown;
  if (isOverflow(thrown)) {
    return new RuntimeError('NESTING_TOO_DEEP', 'a value is nested too deeply to be processed', {
      cause: thrown,
    });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (code === 'INTERNAL' && isExhaustion(thrown)) {
    const hint =
      'The system has run out of what the message names: file descriptors, disk space, or a writable disk.';
    return new RuntimeError('FILE_UNREADABLE', message, { cause: thrown, hint });
  }
  return new RuntimeError(code, message, { cause: thrown });
}

const exhausted: ReadonlySet<unknown> = new Set(['EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT', 'EROFS', 'EIO']);

function isExhaustion(thrown: unknown): boolean {
  return thrown instanceof Error && 'code' in thrown && 'syscall' in thrown && exhausted.has(thrown.code);
}

function isOverflow(thrown: unknown): boolean {
  return thrown instanceof RangeError && thrown.message.startsWith('Maximum call stack size exceeded');
}

export async function withoutOverflow<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw isOverflow(error) ? toRuntimeError(error) : error;
  }
}

export function toFault(thrown: unknown): Fault {
  const { code, message, hint, details } = toRuntimeError(thrown);
  return Object.keys(details).length === 0 ? { code, message, hint } : { code, message, hint, details };
}

export function withCatalogueText({ code }: Pick<Fault, 'code'>): Fault {
  const { summary: message, hint } = catalogue[code];
  return { code, message, hint };
}

/** Whether Signalbox cancelled the call (ABORTED, RUNTIME_CLOSED). */
export function isCancelled(fault: { readonly code: string } | undefined): boolean {
  return fault?.code === 'ABORTED' || fault?.code === 'RUNTIME_CLOSED';
}
