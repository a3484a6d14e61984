import type { CountryCode } from 'libphonenumber-js/max';
import { libraries } from '../lazy-libraries.ts';

/** Looks numbers up in the numbering plans of the world. */
export interface PhoneBook {
  /** Whether the number is one of its country's plan; without a country code, of one of the regions. */
  isValid(dialled: string): boolean;
  /** Whether it has the form of a mobile number of a region where people write these in one piece, without a word before them. */
  isMobile(dialled: string): boolean;
}

/** Looking a number up takes 50 µs; of one text no more are looked up, and the shape of the others decides. */
const maxLookups = 10_000;

export function createPhoneBook(regions: readonly CountryCode[]): PhoneBook {
  const known = new Map<string, boolean>();
  return {
    isValid: (dialled) => {
      const answer = known.get(dialled);
      if (answer !== undefined || known.size >= maxLookups) return answer ?? true;
      const isValid = lookUp(dialled, regions);
      known.set(dialled, isValid);
      return isValid;
    },
    isMobile: (dialled) => regions.some((region) => bareMobiles[region]?.test(dialled) === true),
  };
}

const bareMobiles: Readonly<Partial<Record<CountryCode, RegExp>>> = {
  CN: /^1[3-9]\d{9}$/,
  JP: /^0[5789]0\d{8}$/,
  KR: /^010\d{8}$/,
};

function lookUp(dialled: string, regions: readonly CountryCode[]): boolean {
  const { parsePhoneNumberFromString } = libraries.phones();
  const candidates = dialled.startsWith('+') ? regions.slice(0, 1) : regions;
  return candidates.some(
    (defaultCountry) =>
      parsePhoneNumberFromString(dialled, { defaultCountry, extract: false })?.isValid() ?? false,
  );
}
