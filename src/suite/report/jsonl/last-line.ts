import { type FileHandle, open } from 'node:fs/promises';

/** The last line of a file that has text in it, read from its end. */
export async function readLastLine(file: string): Promise<{ readonly bytes: Buffer }> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    return { bytes: await readBack(handle, size) };
  } finally {
    await handle.close();
  }
}

async function readBack(handle: FileHandle, size: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunkSize);
    const chunk = await readExactly(handle, start, end);
    const used = parts.length === 0 ? trimEnd(chunk) : chunk;
    const feed = used.lastIndexOf(LINE_FEED);
    if (feed !== -1) return Buffer.concat([used.subarray(feed + 1), ...parts]);
    if (used.length > 0) parts.unshift(used);
    end = start;
  }
  return Buffer.concat(parts);
}

const chunkSize = 64 * 1024;
const LINE_FEED = 0x0a;

async function readExactly(handle: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.alloc(end - start);
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
  return buffer.subarray(0, bytesRead);
}

function trimEnd(chunk: Buffer): Buffer {
  const last = chunk.findLastIndex((byte) => byte !== LINE_FEED && byte !== 0x0d && byte !== 0x20);
  return chunk.subarray(0, last + 1);
}
