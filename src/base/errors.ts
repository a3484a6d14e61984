/** The error codes: the sentence that docs/reference/errors.md shows for each, and its hint. */
export const catalogue = {
  USAGE: {
    summary: 'The command line or the library call was used in a way that has no meaning.',
    hint: 'Run the command with --help to see its arguments.',
  },
  PLATFORM_UNSUPPORTED: {
    summary: 'What runs the program is none that Signalbox runs on: an older Node.js, or Bun.',
    hint: 'Use Node.js 22.18 or newer, such as the one of `npm i -D node@24`; `node --version` says which one is used.',
  },
  FILE_UNREADABLE: {
    summary: 'A file that the call names does not exist, or cannot be read or written.',
    hint: 'Check the path; relative paths start from the current folder.',
  },
  CONFIG_INVALID: {
    summary: 'A configuration file has problems; each is listed with its file, line and column.',
    hint: 'Run `signalbox validate` to see every problem at once.',
  },
  DATASET_INVALID: {
    summary: 'A row of a dataset cannot be read or does not fit the suite.',
    hint: 'The message names the file and the line.',
  },
  EXPRESSION_FAILED: {
    summary: 'A ${…} expression could not be evaluated, or gave a value of the wrong kind.',
    hint: 'The message names the expression, or the key that it stands at.',
  },
  NAME_UNKNOWN: {
    summary: 'No tool, eval or hook of that name is declared.',
    hint: 'Run `signalbox tool list`, or look into spec.tools, spec.evals and spec.hooks.',
  },
  EVENT_INVALID: {
    summary: 'The event handed to the hooks does not have the shape of its hook and phase.',
    hint: 'docs/guides/write-hooks.md shows the payload of every phase.',
  },
  ARGS_INVALID: {
    summary: 'The arguments of a tool call are not one JSON object that fits its input_schema.',
    hint: 'Correct the arguments; no process was started.',
  },
  RESULT_INVALID: {
    summary: 'The result of a tool does not fit its output_schema.',
    hint: 'Correct the tool or its output_schema.',
  },
  TOOL_ERROR: {
    summary: 'The tool itself reported an error.',
    hint: 'The message is the tool’s own.',
  },
  EVAL_ERROR: {
    summary: 'The eval itself reported an error instead of a score.',
    hint: 'The message is the eval’s own. An eval that has nothing to say answers {"abstain": "reason"}.',
  },
  TOOL_NOT_RUNNABLE: {
    summary: 'The tool is declared without an exec binding, so there is nothing to run.',
    hint: 'Add `exec: {command: …}` to the tool.',
  },
  PROCESS_START: {
    summary: 'The process could not be started.',
    hint: 'Check that the command exists, is executable and has a #! line.',
  },
  SANDBOX_FAILED: {
    summary:
      'The sandbox that an entry names cannot be had, could not be set up, or does not show the command: nothing was run.',
    hint: 'The message says what is missing; docs/guides/sandbox-programs.md tells what a sandbox shows.',
  },
  PROCESS_EXIT: {
    summary: 'The process ended with an exit code other than 0.',
    hint: 'Correct the program: its stderr says why.',
  },
  PROCESS_SIGNAL: {
    summary: 'The process was ended by a signal.',
    hint: 'Its stderr is in the log and in details.stderr.',
  },
  PROCESS_TIMEOUT: {
    summary: 'The process did not answer within timeout_ms.',
    hint: 'Raise timeout_ms, or find out what the process waits for.',
  },
  OUTPUT_LIMIT: {
    summary: 'The process wrote more than max_output_bytes.',
    hint: 'Raise max_output_bytes, or write less to stdout.',
  },
  LIMIT_EXCEEDED: {
    summary: 'The process was stopped because it reached one of its limits; the message says which one.',
    hint: 'Raise that number under `limits`, or find out why the process needs so much.',
  },
  REPLY_MALFORMED: {
    summary: 'The reply is not the one JSON object that the dialect asks for.',
    hint: 'stdout must carry the reply and nothing else; log to stderr.',
  },
  SERVER_EXIT: {
    summary: 'The server process ended while the request was in flight.',
    hint: 'It is started again on the next call; its last stderr line is in the message.',
  },
  SERVER_CIRCUIT_OPEN: {
    summary: 'The server died too often without a good reply and is left alone for a while.',
    hint: 'Repair the server; one call tries again after the pause.',
  },
  SERVER_BUSY: {
    summary: 'More than max_output_bytes of requests are waiting to be read by the server.',
    hint: 'The server reads too slowly; lower the concurrency or repair the server.',
  },
  REJECTED: {
    summary: 'A person rejected the call, so the tool was not run.',
    hint: 'The reason is the person’s own.',
  },
  PENDING_EXPIRED: {
    summary: 'Nobody decided about the pending call in time, so the tool was not run.',
    hint: 'Call again, and decide before it expires.',
  },
  PENDING_DECIDED: {
    summary: 'Somebody else has already decided about the pending call.',
    hint: 'The message names the decision that stands; `signalbox pending show` has the rest.',
  },
  PROVIDER_UNUSABLE: {
    summary: 'The provider is declared in a way that cannot be used, or its API key is missing.',
    hint: 'Correct its entry in spec.providers; docs/reference/providers.md has one for every type.',
  },
  PROVIDER_FAILED: {
    summary: 'The model’s API answered with an error, broke off, or could not be reached.',
    hint: 'The message has the status and the API’s own words.',
  },
  PROVIDER_TIMEOUT: {
    summary: 'The model’s API did not answer within request_timeout.',
    hint: 'Raise request_timeout, or find out why the API is slow.',
  },
  BUDGET_EXCEEDED: {
    summary: 'The money that model calls of a run, or of a case, may cost is spent; the call was not made.',
    hint: 'Give --max-cost, or max_cost of the suite, a higher amount; --resume goes on with the run.',
  },
  REPLAY_MISS: {
    summary: 'The recording holds no answer for this call of a model or a process.',
    hint: 'Record again with `--record FILE`; the message says what differs.',
  },
  DENIED: {
    summary: 'A hook denied the model call or withheld its answer.',
    hint: 'The message names the hook and its reason.',
  },
  STEP_TIMEOUT: {
    summary: 'A step of a pipeline took longer than its timeout_ms.',
    hint: 'Raise timeout_ms of the step, or find out what it waits for.',
  },
  LOOP_EXHAUSTED: {
    summary: 'The condition of a `while` step still held after `max` runs of it.',
    hint: 'Raise max, or find out why the condition does not become false.',
  },
  ROUNDS_EXHAUSTED: {
    summary: 'A chat still asked for tools after max_rounds model calls.',
    hint: 'Raise max_rounds, or offer fewer tools.',
  },
  OUTPUT_INVALID: {
    summary: 'The answer of a chat does not fit its output schema.',
    hint: 'The message has the path of the first value that does not fit, and how the answer begins.',
  },
  THRESHOLD_MISSED: {
    summary: 'An eval that gates the pipeline scored outside its threshold, or could not be scored.',
    hint: 'The message has the score and the eval’s own detail.',
  },
  INPUT_INVALID: {
    summary: 'The input of a pipeline does not fit the input schema of its file.',
    hint: 'Correct --input; nothing was run.',
  },
  ENV_MISSING: {
    summary: 'An environment variable that a pipeline reads is not set.',
    hint: 'Set it, or name a file that does in spec.env_file of the RuntimeConfig; no step was begun.',
  },
  STORE_FAILED: {
    summary: 'The state store cannot be opened, read or written, so nothing that needs it was done.',
    hint: 'Check that the folder of spec.state_store is writable and its disk has room.',
  },
  RUN_UNKNOWN: {
    summary: 'There is no run or pending call of that id in the state store.',
    hint: '`signalbox runs list` shows the runs. Those of another config are kept elsewhere: name it with --config FILE.',
  },
  RUN_ID_TAKEN: {
    summary: 'A run of that id was started before, with another pipeline or another input.',
    hint: 'Give every start an id of its own; `signalbox runs show` tells what the first one was.',
  },
  RUN_BUSY: {
    summary: 'Another process is executing the run at this moment.',
    hint: 'Wait until it ends or pauses; `signalbox runs show` tells how far it is.',
  },
  RUN_ENDED: {
    summary: 'The run has ended, so it can be neither resumed nor cancelled.',
    hint: 'Start a new run.',
  },
  RUN_NOT_RETRYABLE: {
    summary: 'Only a run that failed or was denied is retried; this one is something else.',
    hint: 'The message says what it is; `signalbox runs show` says what can be done.',
  },
  WORKER_FAILED: {
    summary: 'Workers could not judge a part of the dataset of a suite.',
    hint: 'Give all workers the same files and programs, and go on with --resume.',
  },
  KEY_UNKNOWN: {
    summary: 'There is no gateway key of that name or id.',
    hint: '`signalbox keys list` shows the keys. Those of another config are kept elsewhere: name it with --config FILE.',
  },
  LISTEN_FAILED: {
    summary: 'The address of a server cannot be listened on, or must not be without keys.',
    hint: 'Choose another one with `--listen HOST:PORT`; port 0 takes any that is free.',
  },
  ABORTED: {
    summary: 'The caller gave the call up before it was answered.',
    hint: 'Call again when the result is wanted.',
  },
  STOP_TIMEOUT: {
    summary: 'The command did not end in time after it was told to, so what ran was killed.',
    hint: 'See what held it up: a reader of stdout, a locked store, a long grace_ms. --stop-timeout gives it more time.',
  },
  RUNTIME_CLOSED: {
    summary: 'The runtime was closed before the call, or before it was answered.',
    hint: 'Open a new runtime.',
  },
  NESTING_TOO_DEEP: {
    summary:
      'A value is nested in more levels of lists and objects than can be followed, or contains itself.',
    hint: 'Flatten the value, or hand it over as text.',
  },
  INTERNAL: {
    summary: 'Signalbox itself failed.',
    hint: 'Please report this with the message and the stack.',
  },
} as const satisfies Record<string, { summary: string; hint: string }>;

export type ErrorCode = keyof typeof catalogue;

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
    return new RuntimeError('NESTING_TOO_DEEP', 'a value is nested too deeply to be followed', {
      cause: thrown,
    });
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (code === 'INTERNAL' && isExhaustion(thrown)) {
    const hint =
      'The system has no more of what it names: descriptors, room on a disk, or a disk that can be written.';
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
export function isCancelled(fault: Pick<Fault, 'code'> | undefined): boolean {
  return fault?.code === 'ABORTED' || fault?.code === 'RUNTIME_CLOSED';
}
