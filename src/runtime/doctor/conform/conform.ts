import { catalogue, RuntimeError } from '../../../base/errors.ts';
import { requirePlatform } from '../../../base/platform.ts';
import { startStopwatch, wholeMs } from '../../../base/time/stopwatch.ts';
import type { Phase } from '../../../contract/hook.ts';
import { hostEnv } from '../../../process/env.ts';
import { openLauncher } from '../../../process/launch/native.ts';
import { writeJunitFile } from '../../../suites/report/junit.ts';
import type { RuntimeOptions } from '../../api-options.ts';
import { createScrubber } from '../../log/scrub.ts';
import { readOpenable, secretsOf } from '../../stages/load.ts';
import { resolveEntries } from '../../stages/resolve.ts';
import { type Breach, type Check, checks, plain } from './checks.ts';
import { type ConformKind, configOf, findSubject, type Script, withRequest } from './subject.ts';
import { type Evidence, openTrial, type Trial } from './trial.ts';

export interface ConformOptions extends Pick<RuntimeOptions, 'env' | 'launcher' | 'overlays' | 'signal'> {
  /** Absent: the entry of `config` with that name or command. */
  readonly kind?: ConformKind | undefined;
  readonly phase?: Phase | undefined;
  readonly config: string;
  readonly folder: string;
  readonly mode?: 'server' | 'fork' | undefined;
  readonly timeoutMs?: number | undefined;
  /** A request of the user's own, as the process reads it. */
  readonly request?: string | undefined;
  /** Asked before a program that acts gets made-up requests. */
  readonly confirm: (question: string) => Promise<boolean>;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

export interface ConformRow {
  readonly check: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly rule: string;
  readonly page: string;
  readonly sent: string | null;
  readonly received: string | null;
  readonly hint: string | null;
  readonly ms: number;
}

export interface ConformReport {
  readonly name: string;
  readonly kind: ConformKind;
  readonly mode: 'exec' | 'server' | 'fork';
  readonly rows: readonly ConformRow[];
  readonly ms: number;
}

/**
 * Asks a program what the contract of its kind asks. Throws USAGE, NAME_UNKNOWN, CONFIG_INVALID, FILE_UNREADABLE,
 * PLATFORM_UNSUPPORTED, ABORTED.
 */
export async function runConform(script: Script, options: ConformOptions): Promise<ConformReport> {
  const { request, mode, signal, confirm, onProgress } = options;
  const { subject: found, launch, secrets } = await openSubject(script, options);
  const { binding: declared } = found;
  const binding = {
    ...declared,
    ...(mode && ({ mode: mode === 'server' ? 'server' : 'oneshot', isForked: mode === 'fork' } as const)),
    timeoutMs: options.timeoutMs ?? declared.timeoutMs,
  };
  const subject = { ...(request === undefined ? found : withRequest(found, request)), binding };
  const { name, kind } = subject;
  const isAsked = ({ modes, kinds }: Check) => modes.includes(binding.mode) && kinds.includes(kind);
  const asked = checks.filter(isAsked);
  const acts = (kind === 'tool' || kind === 'observer') && request === undefined;
  const question = `The ${kind} ${name} would get about ${REQUESTS[binding.mode]} made-up requests. Go on?`;
  if (acts && !(await confirm(question)))
    throw new RuntimeError('USAGE', `the ${kind} ${name} acts, so it gets no made-up requests`, {
      hint: `Give a request that may be repeated: --request '{"args": {…}}'.`,
    });
  const watch = startStopwatch();
  const trial = openTrial(subject, { launch, scrubber: createScrubber(secrets), signal });
  try {
    const rows = await runChecks(asked, trial, onProgress);
    const shown = binding.isForked ? 'fork' : binding.mode === 'server' ? 'server' : 'exec';
    return { name, kind, mode: shown, rows, ms: wholeMs(watch.read()).durationMs };
  } finally {
    await trial.close();
  }
}

const REQUESTS = { oneshot: 10, server: 70 } as const;

async function openSubject(script: Script, options: ConformOptions) {
  const { kind, config: file } = options;
  const { config, host, launch } =
    kind === undefined ? await readOpenable(file, options) : await openBare(kind, script, options);
  const wanted = kind === undefined ? script.command : config.name;
  const subject = findSubject(resolveEntries(config, host), wanted, file);
  return { subject, launch, secrets: secretsOf(config, host) };
}

async function openBare(kind: ConformKind, script: Script, options: ConformOptions) {
  requirePlatform();
  const { env: host = hostEnv(), launcher = 'auto' } = options;
  return { config: configOf(kind, script, options), host, launch: await openLauncher(launcher) };
}

async function runChecks(
  asked: readonly Check[],
  trial: Trial,
  onProgress: ConformOptions['onProgress'],
): Promise<ConformRow[]> {
  const seen = new Map<Check['act'], Evidence>();
  const failed = new Set<Check['act']>();
  const rows: ConformRow[] = [];
  for (const { name, act, breach, rule, section, next } of asked) {
    const watch = startStopwatch();
    const isUnusable = seen.get(plain)?.exchanges.some(({ fault }) => fault !== undefined) === true;
    const isSkipped = failed.has(act) || (isUnusable && act !== plain);
    const evidence = isSkipped ? undefined : (seen.get(act) ?? (await act(trial)));
    const found = evidence && breach(evidence);
    if (evidence !== undefined) seen.set(act, evidence);
    if (found !== undefined) failed.add(act);
    const exchange = typeof found === 'object' ? found : evidence?.exchanges[0];
    const anchor = typeof section === 'string' ? section : section[trial.subject.kind];
    rows.push({
      check: name,
      status: isSkipped ? 'skipped' : found === undefined ? 'passed' : 'failed',
      rule,
      page: `docs/reference/protocols/promptkit.md#${anchor}`,
      sent: exchange?.sent ?? null,
      received: typeof found === 'string' ? found : (exchange?.received ?? null),
      hint: found === undefined ? null : (hintOf(found) ?? next),
      ms: wholeMs(watch.read()).durationMs,
    });
    onProgress?.(rows.length, asked.length);
  }
  return rows;
}

/** The hint of a fault, if it is more than the usual one of its code. */
function hintOf(found: Exclude<Breach, undefined>): string | undefined {
  if (typeof found === 'string' || found.fault === undefined) return undefined;
  const { code, hint } = found.fault;
  return hint === catalogue[code].hint ? undefined : hint;
}

/** Writes JUnit: a `testsuite` for the program, a `testcase` for each check. Throws FILE_UNREADABLE. */
export async function writeConformJunit(
  { name, kind, mode, rows, ms }: ConformReport,
  file: string,
): Promise<void> {
  await writeJunitFile(file, { name: `conform ${name}`, ms }, (suites) => {
    const suite = suites.open(name);
    suite.properties = { kind, mode };
    for (const { check, status, rule, page, sent, received, ms } of rows) {
      const about = { name: check, classname: `${name}.${kind}`, ms };
      const message =
        status === 'skipped' ? 'not asked, because an earlier check failed' : `${rule} Received: ${received}`;
      const detail = [`sent: ${sent}`, `received: ${received}`, page].join('\n');
      suite.add({ ...about, kind: status === 'failed' ? 'failure' : status, message, type: check, detail });
    }
  });
}
