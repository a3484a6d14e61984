import type { Terminal } from '../terminal.ts';

/** What is told of a run on stderr while it goes on. */
export interface Story {
  /** Whole lines. */
  tell(text: string): void;
  /** A piece of the answer that a step gives. */
  say(step: string, piece: string): void;
  /** What is told from now on comes after `release`: somebody is being asked something. */
  hold(): void;
  release(): void;
  /** Ends an answer that is still on its line. */
  end(): void;
}

export function openStory({ tell, whisper }: Pick<Terminal, 'tell' | 'whisper'>): Story {
  let held: (() => void)[] | undefined;
  let speaker: string | undefined;
  const fallSilent = () => {
    if (speaker !== undefined) whisper('\n');
    speaker = undefined;
  };
  const orLater = (act: () => void) => {
    if (held === undefined) act();
    else held.push(act);
  };
  return {
    tell: (text) =>
      orLater(() => {
        fallSilent();
        tell(text);
      }),
    say: (step, piece) =>
      orLater(() => {
        if (speaker !== step) {
          fallSilent();
          whisper(`${step}: `);
        }
        speaker = step;
        whisper(piece);
      }),
    hold: () => {
      fallSilent();
      held ??= [];
    },
    release: () => {
      const acts = held ?? [];
      held = undefined;
      for (const act of acts) act();
    },
    end: () => orLater(fallSilent),
  };
}
