import { type Ending, processClass } from '../ending.ts';
import type { Fault } from '../fault.ts';
import { misbehaving } from './misbehaving.ts';

const signals = [
  ...['HUP', 'INT', 'QUIT', 'ILL', 'TRAP', 'ABRT', 'BUS', 'FPE', 'KILL', 'SEGV', 'PIPE', 'ALRM', 'TERM'],
  ...['USR1', 'USR2', 'XCPU', 'XFSZ', 'VTALRM', 'PROF', 'SYS'],
];
const codes = [1, 3, 64, 126, 127, 128, 130, 137, 143, 255];

const moments = [
  { when: 'before', words: 'before it reads', ending: { isUnread: true } },
  { when: 'asked', words: 'when it has read', ending: {} },
  { when: 'half', words: 'within its reply', ending: { printed: 'half' } },
  { when: 'after', words: 'after its reply', ending: { printed: 'reply' } },
] as const satisfies readonly { when: string; words: string; ending: Omit<Ending, 'by'> }[];

/** Deaths at every moment of a call. Signals alternate over the moments; the likely ones cover all of them. */
export const deaths: readonly Fault[] = [
  ...moments.map(({ when, words, ending }) =>
    misbehaving('death', `ends quietly ${words}`, {
      deed: [when, 'exit', '0'],
      class: processClass({ by: 'quiet', ...ending }),
    }),
  ),
  ...moments.map(({ when, words, ending }) =>
    misbehaving('death', `exits with code 2 ${words}`, {
      deed: [when, 'exit', '2'],
      class: processClass({ by: 'refusal', ...ending }),
    }),
  ),
  ...moments.map(({ when, words, ending }) =>
    misbehaving('death', `exits with code 1 ${words}`, {
      deed: [when, 'exit', '1'],
      class: processClass({ by: 'exit', ...ending }),
    }),
  ),
  ...moments.map(({ when, words, ending }) =>
    misbehaving('death', `is ended by SIGKILL ${words}`, {
      deed: [when, 'signal', 'KILL'],
      class: processClass({ by: 'signal', ...ending }),
    }),
  ),
  ...codes.slice(1).map((code, index) => {
    const { when, words, ending } = momentAt(index);
    return misbehaving('death', `exits with code ${code} ${words}`, {
      deed: [when, 'exit', `${code}`],
      class: processClass({ by: 'exit', ...ending }),
    });
  }),
  ...signals
    .filter((signal) => signal !== 'KILL')
    .map((signal, index) => {
      const { when, words, ending } = momentAt(index);
      return misbehaving('death', `is ended by SIG${signal} ${words}`, {
        deed: [when, 'signal', signal],
        class: processClass({ by: 'signal', ...ending }),
      });
    }),
  misbehaving('death', 'kills its whole group', {
    deed: ['asked', 'kill-group', 'KILL'],
    class: processClass({ by: 'signal' }),
  }),
];

function momentAt(index: number) {
  const [first, ...others] = moments;
  return [first, ...others][index % moments.length] ?? first;
}
