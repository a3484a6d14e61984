#!/usr/bin/env node
import { startGuard } from '../start.ts';

await startGuard(process, 'signalbox-prompt');
