import { fixture } from '../entry.ts';
import type { Fault } from '../fault.ts';
import { type Meaning, denial as no, open } from '../meaning.ts';
import type { Target } from '../targets.ts';

const denial = '{"decision": "block", "reason": "no"}';
const badJson = (target: Target) => open(`${target.dialect}.bad_json`);
const denied = () => no;
/** Agentao finds a denial in any surroundings, and its JSON reader accepts NaN. */
const claudeOnly = (target: Target) => (target.dialect === 'claude' ? badJson(target) : no);

/** Denials of Claude Code and Agentao that may not count. Source: docs/reference/dialects.md, "What fails open". */
export const doubts: readonly Fault[] = [
  doubt('says it twice', '{"decision": "block", "decision": "approve"}', denied),
  doubt('is cut off', denial.slice(0, -3), badJson),
  doubt('has text behind it', `${denial}\ndone`, claudeOnly),
  doubt('is in UTF-16 with its mark', Buffer.from(`\ufeff${denial}`, 'utf16le'), denied),
  doubt('has NaN beside it', `{"score": NaN, ${denial.slice(1)}`, claudeOnly),
];

function doubt(what: string, printed: string | Buffer, means: (target: Target) => Meaning): Fault {
  const encoded = Buffer.from(printed).toString('base64');
  return {
    area: 'doubt',
    id: `prints a denial that ${what}`,
    class: { name: `a denial that ${what}`, means },
    fits: (target) =>
      target.capability === 'hook' && isGuard(target.dialect) && target.point.name === 'PreToolUse',
    child: () => ({ command: fixture('says.sh'), args: [encoded, '', '0'] }),
  };
}

function isGuard(dialect: string): boolean {
  return dialect === 'claude' || dialect === 'agentao';
}
