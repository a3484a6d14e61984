import type { Redact, Scrubber, ScrubStream } from '../contract/scrub.ts';
import { endOfString, endOfValue, skipSpace } from '../json/scan.ts';
import { createSecretHider, redactedMark, type SecretHider } from '../text/hide-secrets.ts';
import { hideCredentials, isCredentialName } from './redact.ts';

/**
 * A redaction for stored texts that are used again: hides secrets, also encoded ones; JSON stays valid JSON,
 * and everything else keeps its spelling.
 */
export function createStoredTextRedact(secrets: Iterable<string>): Redact {
  return createJsonRedact(createSecretHider(secrets));
}

/** Creates the scrubber of a runtime, which takes secrets out of every text that leaves it. */
export function createScrubber(secrets: Iterable<string>): RuntimeScrubber {
  const hider = createSecretHider(secrets);
  const text = createTextRedact(hider);
  return {
    text,
    values: hider.text,
    stream: () => openStream(hider),
    add: hider.add,
    storedText: createJsonRedact(hider),
  };
}

export interface RuntimeScrubber extends Scrubber {
  /** Redacts stored texts that are used again: JSON stays valid JSON. */
  readonly storedText: Redact;
}

function createTextRedact(hider: SecretHider): Redact {
  return hideOnOverflow((text) => hideCredentials(hider.text(text)));
}

function createJsonRedact(hider: SecretHider): Redact {
  const redact = createTextRedact(hider);
  return (text) => {
    if (!isJson(text)) return redact(text);
    const scrubbed = scrubJson(text, redact);
    // A secret that is itself JSON may stand there as several tokens.
    const hidden = hider.text(scrubbed);
    return hidden === scrubbed || isJson(hidden) ? hidden : hiddenToken;
  };
}

/** Names of credentials and what follows them are looked for line by line. */
function openStream(hider: SecretHider): ScrubStream {
  const values = hider.stream();
  const redact = hideOnOverflow(hideCredentials);
  let buffered = '';
  return {
    push: (text) => {
      buffered += values.push(text);
      const end =
        buffered.length > MAX_BUFFERED_CHARACTERS ? buffered.length : buffered.lastIndexOf('\n') + 1;
      const shown = redact(buffered.slice(0, end));
      buffered = buffered.slice(end);
      return shown;
    },
    rest: () => redact(buffered + values.rest()),
  };
}

/** How much of an unfinished line is buffered before it is passed on. */
const MAX_BUFFERED_CHARACTERS = 64 * 1024;

const hiddenToken = JSON.stringify(redactedMark);

/** The redaction; a text that overflows the patterns is hidden completely. */
function hideOnOverflow(redact: Redact): Redact {
  return (text) => {
    try {
      return redact(text);
    } catch (thrown) {
      if (thrown instanceof RangeError) return redactedMark;
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
    const shown = isString ? scrubString(token, redact) : redact(token) === token ? token : hiddenToken;
    if (shown !== token) put(at, end, shown);
    const colon = skipSpace(text, end);
    const isKey = isString && text[colon] === ':';
    at = isKey ? skipSpace(text, colon + 1) : end;
    if (!isKey || !isCredentialName(decode(token)) || /[tfn]/.test(text[at] ?? '')) continue;
    // Whatever a credential is made of; true, false and null only say whether there is one.
    const after = endOfValue(text, at);
    put(at, after, hiddenToken);
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
