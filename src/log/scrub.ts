import type { Scrubber, ScrubStream } from '../contract/scrub.ts';
import { endOfString, endOfValue, skipSpace } from '../json/scan.ts';
import { createHider, type Hider, mark } from '../text/hide.ts';
import { hideCredentials, isCredentialName, type Redact } from './redact.ts';

/**
 * Hides what no log shows, also where it is encoded, in texts that are kept to be used again: JSON stays JSON, and
 * what of it is no secret stays as it was written.
 */
export function createScrub(secrets: Iterable<string>): Redact {
  return scrubWith(createHider(secrets));
}

/** The one scrubber of a runtime, for every door that a text leaves it by. */
export function createScrubber(secrets: Iterable<string>): OwnScrubber {
  const hider = createHider(secrets);
  const text = redactWith(hider);
  return {
    text,
    values: (given) => hider.text(given),
    stream: () => openStream(hider),
    add: (more) => hider.add(more),
    kept: scrubWith(hider),
  };
}

export interface OwnScrubber extends Scrubber {
  /** For texts that are kept to be used again: JSON stays JSON. */
  readonly kept: Redact;
}

function redactWith(hider: Hider): Redact {
  return orNothing((text) => hideCredentials(hider.text(text)));
}

function scrubWith(hider: Hider): Redact {
  const redact = redactWith(hider);
  return (text) => {
    if (!isJson(text)) return redact(text);
    const scrubbed = scrubJson(text, redact);
    // A secret that is itself JSON may stand there as several tokens.
    const hidden = hider.text(scrubbed);
    return hidden === scrubbed || isJson(hidden) ? hidden : nothing;
  };
}

/** Names of credentials and what follows them are looked for line by line. */
function openStream(hider: Hider): ScrubStream {
  const values = hider.stream();
  const redact = orNothing(hideCredentials);
  let held = '';
  return {
    push: (text) => {
      held += values.push(text);
      const end = held.length > LONGEST_HELD ? held.length : held.lastIndexOf('\n') + 1;
      const shown = redact(held.slice(0, end));
      held = held.slice(end);
      return shown;
    },
    rest: () => redact(held + values.rest()),
  };
}

/** A line without end is let go bit by bit. */
const LONGEST_HELD = 64 * 1024;

const nothing = JSON.stringify(mark);

/** Text that is too much for the patterns is not shown at all. */
function orNothing(redact: Redact): Redact {
  return (text) => {
    try {
      return redact(text);
    } catch (thrown) {
      if (thrown instanceof RangeError) return mark;
      throw thrown;
    }
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(withoutMark(text));
    return true;
  } catch {
    return false;
  }
}

/** Some programs begin their output with a byte order mark, which is no JSON. */
function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

function scrubJson(text: string, redact: Redact): string {
  const parts: string[] = [];
  let kept = 0;
  const put = (start: number, end: number, token: string) => {
    parts.push(text.slice(kept, start), token);
    kept = end;
  };
  for (let at = 0; at < text.length; ) {
    const isString = text[at] === '"';
    if (!isString && !startsNumber(text.charCodeAt(at))) {
      at += 1;
      continue;
    }
    const end = isString ? endOfString(text, at) : endOfValue(text, at);
    const token = text.slice(at, end);
    const shown = isString ? scrubString(token, redact) : redact(token) === token ? token : nothing;
    if (shown !== token) put(at, end, shown);
    const colon = skipSpace(text, end);
    const isKey = isString && text[colon] === ':';
    at = isKey ? skipSpace(text, colon + 1) : end;
    if (!isKey || !isCredentialName(decode(token)) || /[tfn]/.test(text[at] ?? '')) continue;
    // Whatever a credential is made of; true, false and null only say whether there is one.
    const after = endOfValue(text, at);
    put(at, after, nothing);
    at = after;
  }
  return parts.join('') + text.slice(kept);
}

function startsNumber(code: number): boolean {
  return code === 0x2d || (code >= 0x30 && code <= 0x39);
}

function scrubString(token: string, redact: Redact): string {
  const text = decode(token);
  const shown = redact(text);
  return shown === text ? token : JSON.stringify(shown);
}

function decode(token: string): string {
  return token.includes('\\') ? String(JSON.parse(token)) : token.slice(1, -1);
}
