import { QUOTE } from '../../base/json/ends.ts';
import { isJson } from '../../base/json/parse.ts';
import { decodeString, JsonTokens } from '../../base/json/tokens.ts';
import { createSecretHider, redactedMark, type SecretHider } from '../../base/text/hide-secrets.ts';
import type { Redact, Scrubber, ScrubStream } from '../../contract/scrub.ts';
import { hideCredentials, isCredentialName } from './redact.ts';

/**
 * Redacts secrets, also encoded ones, in stored texts that are used again. JSON stays valid JSON, and other text keeps
 * its spelling.
 */
export function createStoredTextRedact(secrets: Iterable<string>): Redact {
  return createJsonRedact(createSecretHider(secrets));
}

export function createScrubber(secrets: Iterable<string>): RuntimeScrubber {
  const hider = createSecretHider(secrets);
  const text = createTextRedact(hider);
  return {
    text,
    values: hider.text,
    stream: () => openStream(hider),
    add: hider.add,
    storedText: createJsonRedact(hider),
    storedJson: createKnownJsonRedact(hider),
  };
}

export interface RuntimeScrubber extends Scrubber {
  readonly storedText: Redact;
  /** Like `storedText`, for a text that is JSON. */
  readonly storedJson: Redact;
}

function createTextRedact(hider: SecretHider): Redact {
  return hideOnOverflow((text) => (text === '' ? text : hideCredentials(hider.text(text))));
}

function createJsonRedact(hider: SecretHider): Redact {
  const redact = createTextRedact(hider);
  const redactJson = createKnownJsonRedact(hider);
  return (text) => (isJsonOutput(text) ? redactJson(text) : redact(text));
}

function createKnownJsonRedact(hider: SecretHider): Redact {
  const redact = createTextRedact(hider);
  return (text) => {
    const scrubbed = scrubJson(text, redact);
    // A secret that is JSON itself may span several tokens.
    const hidden = hider.text(scrubbed);
    return hidden === scrubbed || isJsonOutput(hidden) ? hidden : hiddenToken;
  };
}

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

const MAX_BUFFERED_CHARACTERS = 64 * 1024;

const hiddenToken = JSON.stringify(redactedMark);

/** Replaces the whole text if the expressions overflow the stack. */
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

/** Some programs begin their output with a byte order mark, which JSON does not allow. */
function isJsonOutput(text: string): boolean {
  return isJson(text.replace(/^\ufeff/, ''));
}

function scrubJson(text: string, redact: Redact): string {
  const parts: string[] = [];
  let kept = 0;
  let isCredential = false;
  const tokens = new JsonTokens(text);
  while (tokens.next()) {
    const { code, start } = tokens;
    const isWord = code === 0x74 || code === 0x66 || code === 0x6e;
    // `true`, `false` and `null` stay visible, because they only say whether there is a credential.
    const isHidden = isCredential && !isWord;
    if (isHidden) tokens.takeValue();
    const token = text.slice(start, tokens.end);
    const shown = isHidden ? hiddenToken : scrubToken(code, token, redact);
    if (shown !== token) {
      parts.push(text.slice(kept, start), shown);
      kept = tokens.end;
    }
    isCredential = tokens.isKey && isCredentialName(tokens.name);
  }
  return parts.join('') + text.slice(kept);
}

function scrubToken(code: number, token: string, redact: Redact): string {
  if (code === QUOTE) return scrubString(token, redact);
  const isNumber = code === 0x2d || (code >= 0x30 && code <= 0x39);
  return isNumber && redact(token) !== token ? hiddenToken : token;
}

function scrubString(token: string, redact: Redact): string {
  const text = decodeString(token, 0, token.length);
  const shown = redact(text);
  return shown === text ? token : JSON.stringify(shown);
}
