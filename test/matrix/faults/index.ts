import type { Fault } from '../fault.ts';
import { deaths } from './deaths.ts';
import { doubts } from './doubts.ts';
import { families } from './families.ts';
import { servers } from './servers.ts';
import { starts } from './starts.ts';
import { streams } from './streams.ts';
import { times } from './times.ts';

export const allFaults: readonly Fault[] = [
  ...starts,
  ...deaths,
  ...times,
  ...streams,
  ...families,
  ...servers,
  ...doubts,
];
