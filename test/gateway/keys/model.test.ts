import { keysModel } from './keys-model.ts';
import { newStore } from './open.ts';

keysModel(async () => newStore(), 30);
