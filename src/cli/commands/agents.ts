import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RuntimeError, toRuntimeError } from '../../base/errors.ts';
import { isPrivate, makePrivateFolder, socketPlace } from '../../base/files/socket-place.ts';
import { versionOf } from '../../base/version.ts';
import { type CommandContext, command, group, launcherOf } from '../command.ts';
import { exchange, residentWords } from '../process/ask-resident.ts';

const up = command('up', {
  about: 'answer events of agents from a process in the background, and start it again when an event comes',
  options: {
    '--foreground': 'be that process, until it has had no event for ten minutes',
    '--while-wanted': 'with --foreground: end soon after `agents down` has been called',
  },
  examples: `
\`signalbox hook DIALECT\` asks this process first. It compares the config and its scripts at each event. If it cannot
answer, the command judges by itself. \`signalbox agents down\` ends it for good.

Examples:
  signalbox agents up
  signalbox agents up --config guards/runtime.yaml

More: docs/reference/agents.md#a-resident`,
  isServer: ({ foreground }) => foreground === true,
  run: async (context, { foreground, whileWanted }) => {
    const files = filesOf(context);
    if (foreground === true) await beResident(context, files, whileWanted === true);
    else await startResident(context, files);
    return 0;
  },
});

const down = command('down', {
  about: 'end the process in the background, and start it no more',
  examples: `
Examples:
  signalbox agents down
  signalbox agents down --config guards/runtime.yaml`,
  run: async (context) => {
    const { folder, socket, wanted } = placeOf(context);
    if (isPrivate(folder, 'folder')) rmSync(wanted, { force: true });
    const isThere = isPrivate(folder, 'folder') && isPrivate(socket, 'socket');
    const isEnded = isThere && (await exchange(socket, '/stop', { firstByteMs: STOP_MS })) !== undefined;
    return { document: { ended: isEnded }, text: isEnded ? 'The resident ends.' : 'No resident listens.' };
  },
});

const STOP_MS = 10_000;

const token = command('token', {
  about:
    'print the token with which Claude Code posts events to `signalbox serve`, and create it on first use',
  examples: `
Examples:
  export SIGNALBOX_AGENT_TOKEN="$(signalbox agents token)"`,
  run: async ({ invocation, terminal, options }) => {
    const { agentToken } = await import('../resident/http.ts');
    try {
      const text = agentToken(invocation.env);
      if (options.json) terminal.printJson({ token: text });
      else terminal.printValue(text);
      return 0;
    } catch (cause) {
      throw new RuntimeError('FILE_UNREADABLE', toRuntimeError(cause).message, { cause });
    }
  },
});

export const agentsCommands = group('agents', {
  about: 'answer the events of agents faster, from a process that stays',
  examples: `
Examples:
  signalbox agents up --config guards/runtime.yaml
  signalbox agents down --config guards/runtime.yaml`,
  commands: [up, down, token],
});

/** Absolute paths. */
export function filesOf({ invocation, options }: Pick<CommandContext, 'invocation' | 'options'>): string[] {
  return [options.config, ...options.overlays].map((file) => resolve(invocation.cwd, file));
}

const placeOf = (context: CommandContext) => socketPlace(filesOf(context), context.invocation.env);

async function beResident(
  context: CommandContext,
  files: readonly string[],
  isWhileWanted: boolean,
): Promise<void> {
  const { signal, invocation } = context;
  const { wanted } = placeOf(context);
  const { openJudge, openResident } = await import('../resident/resident.ts');
  const judge = openJudge(context, files);
  try {
    const isWanted = () => !isWhileWanted || existsSync(wanted);
    const resident = await openResident(judge, { files, env: invocation.env, idleMs: IDLE_MS, isWanted });
    if (resident === undefined) return;
    signal.addEventListener('abort', () => void resident.close(), { once: true });
    await resident.ended;
  } finally {
    await judge.close();
  }
}

const IDLE_MS = 600_000;

/** Opens the config first, since events would be left to the command if a resident cannot serve it. */
async function startResident(context: CommandContext, files: readonly string[]): Promise<void> {
  const { invocation, terminal, open } = context;
  await open();
  const { loadOpener, loadWatched } = await import('../../runtime/runtime.ts');
  const { openWatchedRuntime } = await loadWatched();
  const [file = '', ...overlays] = files;
  const launcher = launcherOf(invocation);
  const watched = await openWatchedRuntime(file, { env: invocation.env, overlays, launcher, log: false });
  await watched.close();
  const { folder, socket, wanted } = placeOf(context);
  try {
    makePrivateFolder(folder);
    writeFileSync(wanted, '', { mode: 0o600 });
  } catch (cause) {
    throw new RuntimeError('LISTEN_FAILED', toRuntimeError(cause).message, { cause });
  }
  const isThere = async () =>
    isPrivate(socket, 'socket') && (await exchange(socket, '/version')) === versionOf();
  if (!(await isThere())) {
    const { startDetached } = await loadOpener();
    startDetached([...invocation.program, ...residentWords(files)], invocation.env);
    const since = performance.now();
    while (!(await isThere())) {
      if (performance.now() - since > START_MS)
        throw new RuntimeError(
          'LISTEN_FAILED',
          `no resident listens at ${socket} after ${START_MS / 1000} s`,
          {
            hint: 'Run `signalbox agents up --foreground` to see why.',
          },
        );
      await sleep(50);
    }
  }
  terminal.print(`A resident listens at ${socket}. It ends after ten minutes without an event.`);
}

const START_MS = 15_000;
