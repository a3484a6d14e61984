#!/usr/bin/env node
import { startGuard } from '../guards/start.ts';

await startGuard(process, 'signalbox-pii');
