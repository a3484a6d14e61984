import { workerData } from 'node:worker_threads';
import { joinConnection } from '../connection.ts';
import type { Change } from './change.ts';
import { makeChanges, openTables } from './make-change.ts';
import { answerWork } from './thread.ts';
import type { ThreadData, ThreadDone } from './writer.ts';

// The thread of `startThreadWriter`: receives lists of changes, and answers each when it is on the disk.

const { file, identity, waitMs }: ThreadData = workerData;
const connection = joinConnection(file, identity);
const tables = openTables(connection);

answerWork({ connection, file, waitMs }, (changes: readonly Change[]): ThreadDone => {
  return { answers: makeChanges(connection, tables, changes) };
});
