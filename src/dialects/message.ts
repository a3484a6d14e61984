import type { Message } from '../contract/exchange.ts';

/**
 * The request with that JSON text, on one line: spliced texts may have line breaks between their tokens,
 * where any white space will do, and a server reads line by line.
 */
export function toMessage(json: string): Message {
  const isOneLine = !json.includes('\n') && !json.includes('\r');
  return { method: 'execute', body: isOneLine ? json : json.replaceAll(/[\r\n]/g, ' ') };
}
