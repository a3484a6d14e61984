import { Argument, type Command, Option } from 'commander';
import { RuntimeError, toRuntimeError } from '../base/errors.ts';
import { systemCode } from '../base/files/file-error.ts';
import { escapeInvisible } from '../base/text/escape-invisible.ts';
import type { MetricsServers, Runtime, RuntimeOptions } from '../runtime/runtime.ts';
import { type ExitCode, exitCodeOfError, exitCodeOfEvalError } from './exit-code.ts';
import { type Input, openInput, readDuration } from './input.ts';
import type { Invocation } from './invocation.ts';
import { hintWithPage, openTerminal, type Terminal } from './terminal.ts';

interface CommonOptions {
  readonly config: string;
  readonly overlays: readonly string[];
  readonly json?: true;
  readonly color: boolean;
  readonly logLevel?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
  readonly logFormat?: 'text' | 'json';
  readonly stopTimeout?: string;
  /** The address of a console, in place of a config. */
  readonly remote?: string;
}

export interface CommandContext {
  readonly invocation: Invocation;
  readonly options: CommonOptions;
  readonly terminal: Terminal;
  readonly input: Input;
  readonly signal: AbortSignal;
  readonly isConfigGiven: boolean;
  readonly openWhole: () => Command;
  /** Opens the runtime of `file` (default: --config) and closes it when the command ends or throws. */
  open(file?: string, more?: OpenOptions): Promise<Runtime>;
}

export type OpenOptions = Pick<
  RuntimeOptions,
  'onEvent' | 'record' | 'replay' | 'cassette' | 'concurrency' | 'logLevel' | 'ownsTelemetry'
> & {
  /** Logs JSON if stderr is not a terminal; every other command logs text. */
  readonly isService?: boolean;
  /** Serves metrics at their own address, if the config has one. */
  readonly hasMetrics?: boolean;
  /** Receives the log in place of stderr. */
  readonly writeLog?: (lines: string) => void;
  /** Changes what is served of the runtime with metrics. */
  readonly wrap?: (runtime: Runtime) => Runtime;
  /** Ctrl-C does not abort the runtime; the command ends it. */
  readonly outlivesInterrupt?: boolean;
};

export interface Outcome {
  readonly document: unknown;
  readonly text?: string | undefined;
  /** Rows for stdout under column names. Without rows prints `none` on stderr, if set. */
  readonly table?: {
    readonly names: readonly string[];
    readonly rows: readonly (readonly string[])[];
    readonly none?: string;
  };
  readonly note?: string | undefined;
  readonly exitCode?: ExitCode;
}

/** Maps options such as `--older-than <duration>` to descriptions. A flag with the value `[value]` may have none. */
type OptionTable = Readonly<Record<string, string | readonly [about: string, more: OptionMore]>>;

interface OptionMore {
  readonly choices?: readonly string[];
  readonly default?: string | readonly string[];
  readonly isRequired?: true;
  /** The option may be repeated; its value is a list. */
  readonly isMany?: true;
}

export type Flags<Table> = {
  readonly [Flag in keyof Table & string as IsGiven<Flag, Table[Flag]> extends true
    ? NameOf<Flag>
    : never]: ValueOf<Flag, Table[Flag]>;
} & {
  readonly [Flag in keyof Table & string as IsGiven<Flag, Table[Flag]> extends true
    ? never
    : NameOf<Flag>]?: ValueOf<Flag, Table[Flag]>;
};

type IsGiven<Flag, About> = Flag extends `--no-${string}`
  ? true
  : About extends readonly [string, { readonly default: unknown } | { readonly isRequired: true }]
    ? true
    : false;
type NameOf<Flag> = Flag extends `--no-${infer Name}`
  ? Camel<Name>
  : Flag extends `--${infer Name} ${string}` | `--${infer Name}`
    ? Camel<Name>
    : never;
type Camel<Name> = Name extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : Name;
type ValueOf<Flag, About> = Flag extends `--no-${string}`
  ? boolean
  : About extends readonly [string, { readonly isMany: true }]
    ? readonly string[]
    : Flag extends `${string} <${string}`
      ? ChoiceOf<About>
      : Flag extends `${string} [${string}`
        ? ChoiceOf<About> | true
        : true;
type ChoiceOf<About> = About extends readonly [string, { readonly choices: readonly (infer Choice)[] }]
  ? Choice
  : string;

type Arguments<Usage> = Usage extends `${string} ${infer Rest}` ? ArgumentsOf<Rest> : [];
type ArgumentsOf<Rest> = Rest extends `${infer First} ${infer More}`
  ? [ArgumentOf<First>, ...ArgumentsOf<More>]
  : [ArgumentOf<Rest>];
type ArgumentOf<Word> = Word extends `${string}...${string}`
  ? readonly string[]
  : Word extends `<${string}`
    ? string
    : string | undefined;

interface CommandSpec<Usage, Table> {
  readonly about: string;
  readonly options?: Table;
  readonly examples: string;
  readonly choices?: { readonly about: string; readonly of: readonly string[] };
  readonly usage?: string;
  /** Exit code 1 is a verdict, such as a missed gate, so errors exit with 2. */
  readonly givesVerdict?: true;
  /** The command runs until it is interrupted, which is a success. */
  readonly isServer?: true | ((flags: Flags<Table>) => boolean);
  /** The command also works with --remote, except for these of its options. */
  readonly remote?: readonly string[];
  /** Commands below this one, such as `mcp pin` below `mcp`. */
  readonly commands?: readonly Declared[];
  run(context: CommandContext, flags: Flags<Table>, ...given: Arguments<Usage>): Promise<Outcome | ExitCode>;
}

export interface Declared {
  readonly names: readonly string[];
  addTo(parent: Command, runCommand: RunCommand, givesVerdict?: boolean): void;
}

export function command<const Usage extends string, const Table extends OptionTable = Record<never, never>>(
  usage: Usage,
  spec: CommandSpec<Usage, Table>,
): Declared {
  const [name = '', ...words] = usage.split(' ');
  const { about, examples, choices, isServer = false, commands = [] } = spec;
  const options: OptionTable = spec.options ?? {};
  return {
    names: [name],
    addTo: (parent, runCommand, givesVerdict = spec.givesVerdict === true) => {
      const own = parent.command(name).description(about).addHelpText('after', examples);
      if (spec.usage !== undefined) own.usage(spec.usage);
      for (const word of words)
        own.addArgument(
          choices === undefined ? new Argument(word) : new Argument(word, choices.about).choices(choices.of),
        );
      for (const [flag, value] of Object.entries(options)) own.addOption(toOption(flag, value));
      if (spec.remote !== undefined) localOptions.set(own, spec.remote);
      own.action(async () => {
        const flags = own.opts<Flags<Table>>();
        await runCommand(
          own,
          async (context) => await spec.run(context, flags, ...(own.processedArgs as Arguments<Usage>)),
          { givesVerdict, isServer: typeof isServer === 'function' ? isServer(flags) : isServer },
        );
      });
      for (const each of commands) each.addTo(own, runCommand, givesVerdict);
    },
  };
}

/** The commands that work with --remote, and their options that do not. */
const localOptions = new WeakMap<Command, readonly string[]>();

/** Throws USAGE for a command or an option that needs the runtime itself. */
function requireRemote(command: Command, openWhole: () => Command, isConfigGiven: boolean): void {
  const refused = localOptions.get(command);
  if (refused === undefined) {
    const names = (each: Command, path: string): string[] => [
      ...(localOptions.has(each) ? [`\`${path}\``] : []),
      ...each.commands.flatMap((below) => names(below, `${path}${path === '' ? '' : ' '}${below.name()}`)),
    ];
    throw new RuntimeError('USAGE', `\`${command.name()}\` does not work with --remote`, {
      hint: `These commands do: ${names(openWhole(), '').join(', ')}.`,
    });
  }
  if (isConfigGiven)
    throw new RuntimeError('USAGE', '--config and --remote cannot be combined', {
      hint: 'The console of --remote has its own config.',
    });
  const given = command.options.find(
    (option) =>
      refused.includes(option.long ?? '') && command.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (given?.long === undefined || given.long === null) return;
  const hint =
    given.long === '--by'
      ? 'The key in SIGNALBOX_KEY names the person.'
      : 'Run the command on the machine of the runtime.';
  throw new RuntimeError('USAGE', `${given.long} does not work with --remote`, { hint });
}

function toOption(flag: string, value: OptionTable[string]): Option {
  const [about, more]: readonly [string, OptionMore?] = typeof value === 'string' ? [value] : value;
  const option = new Option(flag, about);
  if (more?.choices !== undefined) option.choices(more.choices);
  if (more?.isMany) option.argParser((next: string, before: readonly string[] = []) => [...before, next]);
  if (more?.default !== undefined) option.default(more.default);
  return option.makeOptionMandatory(more?.isRequired === true);
}

export function group(
  name: string,
  spec: {
    readonly about: string;
    readonly alias?: string;
    readonly examples?: string;
    readonly givesVerdict?: true;
    readonly commands: readonly Declared[];
  },
): Declared {
  const { about, alias, examples, givesVerdict, commands } = spec;
  return {
    names: alias === undefined ? [name] : [name, alias],
    addTo: (parent, runCommand) => {
      const own = parent.command(name).description(about);
      if (alias !== undefined) own.alias(alias);
      if (examples !== undefined) own.addHelpText('after', examples);
      for (const each of commands) each.addTo(own, runCommand, givesVerdict);
    },
  };
}

/** Runs a command, prints its output and passes on its exit code. Never throws. */
type RunCommand = (
  command: Command,
  work: (context: CommandContext) => Promise<Outcome | ExitCode>,
  kind: { readonly givesVerdict: boolean; readonly isServer: boolean },
) => Promise<void>;

/** `exit` receives the exit code and whether 1 would be a verdict. */
export function openRunCommand(
  invocation: Invocation,
  openWhole: () => Command,
  exit: (code: ExitCode, givesVerdict: boolean) => void,
): RunCommand {
  const { signal } = invocation;
  return async (command, work, { givesVerdict, isServer }) => {
    if (givesVerdict) invocation.onVerdictCommand();
    const { config: files, ...rest }: Omit<CommonOptions, 'config'> & { readonly config: readonly string[] } =
      command.optsWithGlobals();
    const [config = '', ...overlays] = files;
    const options: CommonOptions = { ...rest, config, overlays };
    const isConfigGiven = command.getOptionValueSourceWithGlobals('config') === 'cli';
    const codeOf = givesVerdict ? exitCodeOfEvalError : exitCodeOfError;
    const allowed: typeof work = async (context) => {
      if (options.remote !== undefined) requireRemote(command, openWhole, isConfigGiven);
      return await work(context);
    };
    const code = await runWork({ invocation, options, isConfigGiven, signal, openWhole }, allowed, codeOf);
    exit(signal.aborted && !isServer ? 130 : code, givesVerdict);
  };
}

async function runWork(
  base: Pick<CommandContext, 'invocation' | 'options' | 'isConfigGiven' | 'signal' | 'openWhole'>,
  work: (context: CommandContext) => Promise<Outcome | ExitCode>,
  codeOf: typeof exitCodeOfError,
): Promise<ExitCode> {
  const { invocation, options, signal } = base;
  const terminal = openTerminal(invocation, options.color);
  const opened: Runtime[] = [];
  let metrics: MetricsServers | undefined;
  const serveMetrics = async (runtime: Runtime, report: (line: string) => void) => {
    if (runtime.telemetry.listen === undefined) return runtime;
    const { loadMetrics } = await import('../runtime/runtime.ts');
    metrics ??= (await loadMetrics()).metricsServers(report);
    return await metrics.follow(runtime);
  };
  const open = async (file = options.config, open: OpenOptions = {}) => {
    const { isService = false, hasMetrics = false, writeLog, ...rest } = open;
    const { outlivesInterrupt = false, wrap = (runtime: Runtime) => runtime, ...more } = rest;
    const { openRuntime } = await import('../runtime/runtime.ts');
    const own = await openRuntime(file, {
      ...more,
      env: invocation.env,
      ownsTelemetry: hasMetrics ? true : (more.ownsTelemetry ?? 'traces'),
      overlays: file === options.config ? options.overlays : [],
      launcher: launcherOf(invocation),
      ...(!outlivesInterrupt && { signal }),
      logLevel: options.logLevel ?? more.logLevel,
      logFormat: options.logFormat,
      log: {
        write: writeLog ?? ((lines) => terminal.stderr.write(lines)),
        isTerminal: !isService || terminal.stderr.isTTY,
        hasColour: terminal.hasErrorColour,
      },
    });
    const report = writeLog ? (line: string) => writeLog(`${line}\n`) : terminal.printStderr;
    const runtime = hasMetrics ? await serveMetrics(wrap(own), report) : own;
    opened.push(runtime);
    return runtime;
  };
  try {
    await limitStop(options, invocation);
    const outcome = await work({ ...base, terminal, input: openInput(invocation), open });
    return typeof outcome === 'number' ? outcome : print(outcome, options, terminal);
  } catch (error) {
    // A reason that `throwIfAborted` threw as it is.
    const isInterrupt = signal.aborted && error === signal.reason;
    const failure = withoutConfig(toRuntimeError(error, isInterrupt ? 'ABORTED' : 'INTERNAL'), base);
    await printError(failure, options, terminal);
    return codeOf(failure.code);
  } finally {
    for (const runtime of opened) await runtime.close();
  }
}

function print(
  { document, text, table, note, exitCode = 0 }: Outcome,
  { json }: CommonOptions,
  terminal: Terminal,
): ExitCode {
  if (json) terminal.printJson(document);
  else {
    if (text !== undefined) terminal.print(text);
    if (table?.none !== undefined && table.rows.length === 0) terminal.printStderr(table.none);
    else if (table !== undefined) terminal.printTable(table.names, table.rows);
    if (note !== undefined) terminal.printStderr(note);
  }
  return exitCode;
}

function withoutConfig(
  error: RuntimeError,
  { options, isConfigGiven }: Pick<CommandContext, 'options' | 'isConfigGiven'>,
): RuntimeError {
  const { code, message, details, cause } = error;
  const isMissing = code === 'FILE_UNREADABLE' && systemCode(cause) === 'ENOENT';
  const isConfig = cause instanceof Error && 'path' in cause && cause.path === options.config;
  if (isConfigGiven || !isMissing || !isConfig) return error;
  const hint = 'Run `signalbox init` to make one here, or name it with --config FILE.';
  return new RuntimeError(code, message, { hint, details, cause: error });
}

async function limitStop({ stopTimeout }: CommonOptions, invocation: Invocation): Promise<void> {
  if (stopTimeout === undefined) return;
  invocation.stopWithin(await readDuration('--stop-timeout', stopTimeout, '500ms, 10s or 2m'));
}

/** Reads SIGNALBOX_LAUNCHER: auto, native or portable. */
export function launcherOf({ env }: Pick<Invocation, 'env'>): RuntimeOptions['launcher'] {
  const name = env['SIGNALBOX_LAUNCHER'];
  return name === 'native' || name === 'portable' ? name : 'auto';
}

async function printError(error: RuntimeError, { json }: CommonOptions, terminal: Terminal): Promise<void> {
  const { code, message, details } = error;
  const hint = terminal.nameCommands(error.hint);
  const { problems, run_id, decision } = details;
  if (json) {
    // Members that a program needs to continue: the run to resume and the stored decision.
    const more = { problems: Array.isArray(problems) ? problems : undefined, run_id, decision };
    terminal.printJson({ error: { code, message, hint, ...more } });
    return;
  }
  if (problems !== undefined) await printProblems(error, terminal);
  else terminal.printStderr(`error: [${code}] ${escapeInvisible(message)}`);
  if (problems === undefined && hint !== '')
    terminal.printStderr(`hint: ${escapeInvisible(hintWithPage({ code, hint }))}`);
  if (code === 'INTERNAL') terminal.printStderr(escapeInvisible(error.stack ?? ''));
}

/** Prints each problem once. Errors with problems come from the runtime, so it is already loaded. */
async function printProblems(error: RuntimeError, terminal: Terminal): Promise<void> {
  const { countProblems, formatProblem, problemsOf } = await import('../runtime/runtime.ts');
  const problems = problemsOf(error);
  const [repeated] = problems.filter((problem) => error.message.includes(problem.message));
  const headline = repeated === undefined ? error.message : countProblems(repeated.file, problems);
  terminal.printStderr(`error: [${error.code}] ${escapeInvisible(headline)}`);
  for (const problem of problems) terminal.printStderr(escapeInvisible(formatProblem(problem)));
}

export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
