import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';
import { makeTempFolder, removeTempFolder } from '../../../src/base/files/temp-folder.ts';

// A program or thread that makes two temporary folders, returns one, and keeps running.
const folder = makeTempFolder('demo');
removeTempFolder(makeTempFolder('demo'));
if (parentPort === null) process.stdout.write(`${folder}\n`);
else parentPort.postMessage(folder);
if (process.argv[2] !== 'exits') await sleep(60_000);
