import { members, number, optional, type Shape, text } from '../../../base/json/shape.ts';

/** Some rows of a dataset that follow one another in one file. Plain JSON. */
export interface DatasetChunk {
  /** As the dataset names it. */
  readonly file: string;
  /** Of the file, in bytes; -1 where a server does not tell. */
  readonly size: number;
  /** Of what is behind an address, as its server tells it. */
  readonly version?: string | undefined;
  /** Of the first row through all files of the dataset, from 1, and in this file. */
  readonly firstNumber: number;
  readonly firstOfFile: number;
  readonly rows: number;
  /** Where the bytes are, if they can be read without those before. */
  readonly range?: ByteRange | undefined;
}

export interface ByteRange {
  /** Behind the last byte is `end`. */
  readonly start: number;
  readonly end: number;
  /** The line of the first byte, from 1. */
  readonly firstLine: number;
  /** CRC-32 of the bytes. */
  readonly sum: number;
}

/** Of a chunk that was kept as JSON. */
export const datasetChunk: Shape<DatasetChunk> = members<DatasetChunk>({
  file: text,
  size: number,
  version: optional(text),
  firstNumber: number,
  firstOfFile: number,
  rows: number,
  range: optional(members<ByteRange>({ start: number, end: number, firstLine: number, sum: number })),
});
