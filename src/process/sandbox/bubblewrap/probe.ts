import { lastLineOf } from '../../../base/text/phrases.ts';
import { waitForSettled } from '../../../base/time/deadline.ts';
import type { BubblewrapSandbox } from '../../binding.ts';
import { collect } from '../../in-flight-bytes.ts';
import type { Launcher } from '../../launch/launch.ts';
import { signalGroup } from '../../launch/process-groups.ts';
import { openStatusFile, startBubblewrap } from './start.ts';

type Probe =
  | { readonly isPossible: true }
  | { readonly isPossible: false; readonly reason: string; readonly hint: string };

const known = new Map<string, Promise<Probe>>();

/** Runs `true` in a sandbox, once for each bwrap and network setting. Never rejects. */
export function probeBubblewrap(
  { program, network }: Pick<BubblewrapSandbox, 'program' | 'network'>,
  launch: Launcher,
): Promise<Probe> {
  const key = `${network} ${program}`;
  const probe = known.get(key) ?? tryOnce(program, network, launch);
  known.set(key, probe);
  // Failures are not cached, so that the next call finds a corrected setting.
  void probe.then(({ isPossible }) => !isPossible && known.delete(key));
  return probe;
}

async function tryOnce(program: string, network: boolean, launch: Launcher): Promise<Probe> {
  const fault = await runTrue(program, network, launch);
  if (fault === undefined) return { isPossible: true };
  return {
    isPossible: false,
    reason: `bubblewrap cannot make a sandbox here: ${fault}`,
    hint: hintOf(fault),
  };
}

async function runTrue(program: string, network: boolean, launch: Launcher): Promise<string | undefined> {
  // Detects a bwrap that cannot mount descriptors.
  const shown = { read: ['/usr'], write: [], hide: [] };
  const sandbox = { mode: 'bubblewrap', name: '', program, network, ...shown } as const;
  const env = { PATH: '/usr/bin:/bin' };
  const command = { command: '/bin/true', args: [], cwd: '/', env, input: new Uint8Array() };
  const status = openStatusFile();
  try {
    const launched = await startBubblewrap('', sandbox, command, { launch, status });
    const { pid, stdin, stdout, stderr, ended } = launched;
    const words = collect(stderr, { maxBytes: MAX_WORDS });
    const isOver = await waitForSettled(Promise.all([ended, words.done]), PROBE_MS);
    if (!isOver) signalGroup(pid, 'SIGKILL');
    const said = Buffer.from(words.bytes() ?? '').toString();
    for (const stream of [stdin, stdout, stderr]) stream?.destroy();
    if (!isOver) return `it did not end within ${PROBE_MS} ms`;
    return status.exitCode() === 0 ? undefined : wordsOf(said) || 'it failed without an error message';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    status.close();
  }
}

const MAX_WORDS = 64 * 1024;
const PROBE_MS = 10_000;

export function wordsOf(stderr: string): string {
  return lastLineOf(stderr).replace(/^bwrap: /, '');
}

const hints: readonly (readonly [RegExp, string])[] = [
  [
    /Unknown option/i,
    'Install a bubblewrap that supports `--bind-fd`: 0.10 or newer, or 0.8 with the security updates of its distribution.',
  ],
  [
    /mount(?:ing)? .*proc/i,
    'In a container /proc is covered: start it with `--security-opt systempaths=unconfined`, or use a sandbox of mode command.',
  ],
  [
    /namespace|uid map|gid map|RTM_NEWADDR|clone|pivot_root|mount|Operation not permitted|Permission denied/i,
    'The system forbids user namespaces: allow them, for root too (`sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, in Docker `--security-opt seccomp=unconfined`), or use a sandbox of mode command.',
  ],
];

function hintOf(fault: string): string {
  return (
    hints.find(([pattern]) => pattern.test(fault))?.[1] ??
    'Run `bwrap --ro-bind / / true` to see what it says.'
  );
}
