import { workerData } from 'node:worker_threads';
import { joinConnection } from '../../store/sqlite/connection.ts';
import { answerWork, waitWhileBusy } from '../../store/sqlite/write/thread.ts';
import { type AuditDone, type AuditThreadData, type AuditWork, doWork, openChain } from './chain-writer.ts';

// Entry point of the worker thread that `writer.ts` starts. It replies when the work is on disk.

const { file, identity, keys, waitMs }: AuditThreadData = workerData;
const connection = joinConnection(file, identity);
const lost = () => {
  throw new Error('the chain is gone');
};
const chain = waitWhileBusy(() => openChain(connection, keys, lost), waitMs);

answerWork({ connection, file, waitMs }, (work: AuditWork): AuditDone => doWork(chain, work));
