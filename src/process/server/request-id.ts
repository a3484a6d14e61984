import { JsonTokens } from '../../base/json/tokens.ts';

/**
 * The id of the object that these bytes begin, as far as it can be read in a line that is cut off or not
 * UTF-8. An `id` deeper inside belongs to the data and names no request.
 */
export function findRequestId(bytes: Uint8Array): number | undefined {
  // One character for each byte: what JSON consists of is ASCII.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const tokens = new JsonTokens(text);
  while (tokens.next()) {
    if (tokens.depth > 1) tokens.takeValue();
    const { start, end } = tokens;
    if (tokens.depth !== 1 || end - start !== '"id"'.length) continue;
    const id = text.slice(start, end).toLowerCase() === '"id"' ? readIdAfter(text, end) : undefined;
    if (id !== undefined) return id;
  }
  return undefined;
}

function readIdAfter(text: string, keyEnd: number): number | undefined {
  // What follows the number shows that no digit of it was cut off.
  const match = /^\s*:\s*("?)(\d{1,15})(?:\.\d+)?\1\s*[,}]/.exec(text.slice(keyEnd, keyEnd + 80));
  return match ? Number(match[2]) : undefined;
}
