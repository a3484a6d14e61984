import type { Edits } from '../edits.ts';
import { unwritable } from '../faults.ts';
import type { Leftovers } from '../leftovers.ts';
import type { Place } from '../place.ts';

/** The reasoning of a message, as servers beside OpenAI tell it. */
export interface Reasoning {
  readonly text: string;
  /** The members of the message that `text` tells. */
  readonly told: readonly string[];
  /** Writes what a hook made of `reasoning`; copies in `reasoning_details` go with a changed text. Throws REPLY_MALFORMED. */
  write(changed: unknown, other: unknown, edits: Edits): void;
}

/** The names that servers have for it; where both are there and differ, the second is left over. */
export const reasoningKeys = ['reasoning_content', 'reasoning'] as const;

/** Members that hold copies of the reasoning, sealed ones too. */
const copies = ['reasoning_details', 'thinking_blocks'];

export function readReasoning(message: Place, leftovers: Leftovers): Reasoning {
  const [first] = reasoningKeys
    .map((key) => message.at(key)?.text)
    .filter((found) => found !== undefined && found !== '');
  const text = first ?? '';
  const told = reasoningKeys.filter((key) => {
    const place = message.at(key);
    return place === undefined || place.kind === 'null' || place.text === '' || place.text === text;
  });
  return {
    text,
    told,
    write: (changed, other, edits) => {
      const given = changed ?? '';
      if (typeof given !== 'string')
        throw unwritable('the `reasoning` of a replaced message is not a string');
      if (given === text) return;
      const holders = told.filter((key) => message.at(key)?.text === text);
      if (given !== '' && holders.length === 0) edits.addMember(message, 'reasoning', JSON.stringify(given));
      for (const key of holders) {
        const place = message.at(key);
        if (given === '') edits.remove(message, key);
        else if (place !== undefined) edits.replace(place, JSON.stringify(given));
      }
      for (const key of copies) if (leftovers.isUnchanged(key, other)) edits.remove(message, key);
    },
  };
}
