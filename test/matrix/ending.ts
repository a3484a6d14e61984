import type { ErrorCode } from '../../src/base/errors.ts';
import type { FaultClass } from './fault.ts';
import { denial, failure, force, type Meaning, open, silent, well } from './meaning.ts';
import { type Hooked, isForeign, type Target } from './targets.ts';

/** What a process does with a call, as far as the caller can see. */
export interface Ending {
  /**
   * How the call ends. `command`: its file cannot be started. `start`: the entry allows no start. `quiet`: exit code 0.
   * `refusal`: exit code 2, a denial in some dialects. `flood`: one endless line. `noise`: endless lines. `close`:
   * closes stdout and hangs.
   */
  readonly by:
    | 'command'
    | 'start'
    | 'exit'
    | 'refusal'
    | 'signal'
    | 'quiet'
    | 'hang'
    | 'close'
    | 'flood'
    | 'noise';
  /** The output before the end. Default: nothing. */
  readonly printed?: 'half' | 'reply';
  /** Reads nothing, so it does not answer a greeting either. */
  readonly isUnread?: true;
}

export function processClass(ending: Ending): FaultClass {
  const { by, printed, isUnread } = ending;
  const name = [by, printed === undefined ? '' : `after ${printed}`, isUnread ? 'unread' : ''];
  return { name: name.filter(Boolean).join(' '), means: (target) => meaningOf(ending, target) };
}

/** A class for faults without effect on the call. */
export const harmless: FaultClass = { name: 'harmless', means: () => well };

function meaningOf(ending: Ending, target: Target): Meaning {
  if (isForeign(target)) return foreignMeanings[target.dialect](ending, target);
  if (target.transport === 'server') return ofServer(ending);
  const isText = target.dialect === 'chibi' && ending.by === 'quiet';
  return isText ? well : ofProcess(ending);
}

/** A process that ends with its reply. Source: docs/reference/protocols/promptkit.md, sections 2 and 3. */
function ofProcess({ by, printed }: Ending): Meaning {
  if (by === 'quiet') return printed === 'reply' ? well : failure('REPLY_MALFORMED');
  return failure(codesOfProcess[by]);
}

const codesOfProcess: Readonly<Record<Exclude<Ending['by'], 'quiet'>, ErrorCode>> = {
  command: 'PROCESS_START',
  start: 'PROCESS_START',
  exit: 'PROCESS_EXIT',
  refusal: 'PROCESS_EXIT',
  signal: 'PROCESS_SIGNAL',
  hang: 'PROCESS_TIMEOUT',
  close: 'PROCESS_TIMEOUT',
  flood: 'OUTPUT_LIMIT',
  noise: 'OUTPUT_LIMIT',
};

/**
 * A process that stays alive. A complete reply counts, even if the process then fails. Source:
 * docs/guides/keep-a-process-alive.md.
 */
function ofServer({ by, printed }: Ending): Meaning {
  if (printed === 'reply') return well;
  return failure(codesOfServer[by]);
}

const codesOfServer: Readonly<Record<Ending['by'], ErrorCode>> = {
  command: 'PROCESS_START',
  start: 'PROCESS_START',
  exit: 'SERVER_EXIT',
  refusal: 'SERVER_EXIT',
  signal: 'SERVER_EXIT',
  quiet: 'SERVER_EXIT',
  close: 'SERVER_EXIT',
  hang: 'PROCESS_TIMEOUT',
  flood: 'OUTPUT_LIMIT',
  noise: 'PROCESS_TIMEOUT',
};

/** The rules of docs/reference/dialects.md, "What fails open", and of docs/reference/protocols. */
const foreignMeanings = { picoclaw, chibi, claude, agentao } satisfies Record<
  string,
  (ending: Ending, target: Hooked) => Meaning
>;

function picoclaw(ending: Ending, { point }: Hooked): Meaning {
  // The limits of the greeting and of the call race.
  if (ending.by === 'hang' && ending.isUnread) return failure('PROCESS_TIMEOUT', 'PROCESS_START');
  const meaning = ofServer(ending);
  const [code] = meaning.kind === 'failure' ? meaning.codes : [];
  if (code === undefined || code === 'PROCESS_START' || ending.isUnread || point.name === 'approve_tool')
    return meaning;
  if (code === 'PROCESS_TIMEOUT') return open('picoclaw.timeout');
  return open(code === 'SERVER_EXIT' ? 'picoclaw.dead' : 'picoclaw.bad_result');
}

function chibi(ending: Ending): Meaning {
  switch (ending.by) {
    case 'exit':
    case 'refusal':
    case 'signal':
      return open('chibi.exit_nonzero');
    case 'quiet':
      if (ending.printed === 'reply') return well;
      return open(ending.printed === 'half' ? 'chibi.not_json' : 'chibi.empty');
    default:
      return ofProcess(ending);
  }
}

/** Code 0 without output is no opinion. One JSON object counts whatever the exit code. */
function claude(ending: Ending, { point }: Hooked): Meaning {
  const { by, printed } = ending;
  const isSwitch = point.name === 'PreModelSwitch';
  switch (by) {
    case 'command':
    case 'start':
      return isSwitch ? failure('PROCESS_START') : open('claude.spawn');
    case 'hang':
    case 'close':
      return isSwitch ? failure('PROCESS_TIMEOUT') : open('claude.timeout');
    case 'flood':
    case 'noise':
      return failure('OUTPUT_LIMIT');
    case 'quiet':
      return printed === 'half' ? open('claude.bad_json') : silent;
    case 'refusal':
      return refusal(point);
    default:
      return printed === 'reply' ? silent : open('claude.exit_other');
  }
}

/** Claude Code acts on exit code 2, whatever the output. */
function refusal({ onExit2 }: Hooked['point']): Meaning {
  if (onExit2 === 'denies') return denial;
  return onExit2 === 'goes on' ? force : silent;
}

/** A rule is a shell command line: a command that cannot be started gives exit code 127 or 126. */
function agentao({ by, printed }: Ending, { point }: Hooked): Meaning {
  if (by === 'refusal' && point.onExit2 === 'goes on') return force;
  if (printed === 'reply' && !['hang', 'close', 'flood', 'noise'].includes(by)) return well;
  switch (by) {
    case 'start':
      return open('agentao.spawn');
    case 'hang':
    case 'close':
      return open('agentao.timeout');
    case 'flood':
    case 'noise':
      // Nothing stops a session’s start.
      return point.isUnclosable ? silent : failure('OUTPUT_LIMIT');
    case 'quiet':
      return printed === 'half' ? open('agentao.bad_json') : silent;
    default:
      return printed === 'half'
        ? open('agentao.exit_nonzero', 'agentao.bad_json')
        : open('agentao.exit_nonzero');
  }
}
