// ajv-formats and Python's jsonschema both accept every text that a pattern matches. The patterns cover the texts that people write.

const YEAR = String.raw`(?:[1-9]\d{3}|0[1-9]\d\d|00[1-9]\d|000[1-9])`;
const LEAP_YEAR = String.raw`(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)`;
const DATE =
  String.raw`(?:${YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)` +
  String.raw`|02-(?:0[1-9]|1\d|2[0-8]))|${LEAP_YEAR}-02-29)`;
const TIME = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+\-](?:[01]\d|2[0-3]):[0-5]\d)`;

/** A part of a name of a host. */
const label = (max: number): string => `[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,${max - 2}}[A-Za-z0-9])?`;
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-]+";

const COUNT = String.raw`(?:0|[1-9]\d{0,5})`;
const TIMES = `(?:${COUNT}H(?:${COUNT}M(?:${COUNT}S)?)?|${COUNT}M(?:${COUNT}S)?|${COUNT}S)`;
const DATES = `(?:${COUNT}Y(?:${COUNT}M(?:${COUNT}D)?)?|${COUNT}M(?:${COUNT}D)?|${COUNT}D)`;

const BYTE = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const HEX = '[0-9A-Fa-f]';
const GROUP = `${HEX}{1,4}`;
/** With `::` behind each number of groups. */
const SHORT_IPV6 = [1, 2, 3, 4, 5, 6].map(
  (before) => `(?:${GROUP}:){1,${before}}(?::${GROUP}){1,${7 - before}}`,
);
const IPV6 = [
  `(?:${GROUP}:){7}${GROUP}`,
  ...SHORT_IPV6,
  `(?:${GROUP}:){1,7}:`,
  `:(?::${GROUP}){1,7}`,
  '::',
].join('|');

const PATH = String.raw`(?:[A-Za-z0-9._~!$&'()*+,;=:@\-]|%${HEX}{2})`;
const AUTHORITY = String.raw`${label(63)}(?:\.${label(63)}){0,3}(?::\d{1,5})?`;

/** A pattern, and the lengths of its texts. */
interface Format {
  readonly pattern: string;
  readonly min: number;
  readonly max: number;
}

const BASE64 = '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?';
const BASE64_FORMAT: Format = { pattern: BASE64, min: 0, max: Infinity };
const IPV4 = String.raw`${BYTE}(?:\.${BYTE}){3}`;
/** Networks without bits of a host. */
const IPV4_NETWORK = `${BYTE}(?:\\.0){3}/8|${BYTE}\\.${BYTE}(?:\\.0){2}/16|${BYTE}(?:\\.${BYTE}){2}\\.0/24|${IPV4}/32`;
const IPV4_FORMAT: Format = { pattern: IPV4, min: 7, max: 15 };
const IPV6_FORMAT: Format = { pattern: IPV6, min: 2, max: 39 };
const IP_FORMAT: Format = { pattern: `${IPV4}|${IPV6}`, min: 2, max: 39 };

const uuid = (version: number): Format => ({
  pattern: `${HEX}{8}-${HEX}{4}-${version}${HEX}{3}-[89abAB]${HEX}{3}-${HEX}{12}`,
  min: 36,
  max: 36,
});

/** How many of the formats, the first, are those of the standard. */
export const NUM_STANDARD_FORMATS = 10;

/** The formats that are enforced: those of the standard, then those of Pydantic and OpenAPI. */
export const FORMATS: Readonly<Record<string, Format>> = {
  date: { pattern: DATE, min: 10, max: 10 },
  time: { pattern: TIME, min: 9, max: 24 },
  'date-time': { pattern: `${DATE}T${TIME}`, min: 20, max: 35 },
  duration: { pattern: `P(?:${COUNT}W|${DATES}(?:T${TIMES})?|T${TIMES})`, min: 3, max: 44 },
  email: {
    pattern: String.raw`${ATOM}(?:\.${ATOM})*@(?:${label(63)}\.)+${label(63)}`,
    min: 5,
    max: Infinity,
  },
  // Eight labels.
  hostname: { pattern: String.raw`${label(30)}(?:\.${label(30)}){0,7}`, min: 1, max: 247 },
  ipv4: IPV4_FORMAT,
  ipv6: IPV6_FORMAT,
  uuid: { pattern: `${HEX}{8}(?:-${HEX}{4}){3}-${HEX}{12}`, min: 36, max: 36 },
  // Pydantic allows 2083 characters.
  uri: {
    pattern:
      `[A-Za-z][A-Za-z0-9+.\\-]{0,15}:(?://${AUTHORITY}(?:/(?:${PATH}|/){0,300})?|${PATH}(?:${PATH}|/){0,300})` +
      `(?:\\?(?:${PATH}|[/?]){0,150})?(?:#(?:${PATH}|[/?]){0,50})?`,
    min: 3,
    max: 2000,
  },
  ...Object.fromEntries([1, 3, 4, 5, 6, 7, 8].map((version) => [`uuid${version}`, uuid(version)])),
  byte: BASE64_FORMAT,
  base64: BASE64_FORMAT,
  base64url: {
    pattern: '(?:[A-Za-z0-9_\\-]{4})*(?:[A-Za-z0-9_\\-]{2}==|[A-Za-z0-9_\\-]{3}=)?',
    min: 0,
    max: Infinity,
  },
  ipvanyaddress: IP_FORMAT,
  ipvanyinterface: IP_FORMAT,
  ipvanynetwork: IP_FORMAT,
  ipv4interface: IPV4_FORMAT,
  ipv6interface: IPV6_FORMAT,
  ipv4network: { pattern: IPV4_NETWORK, min: 9, max: 18 },
  ipv6network: IPV6_FORMAT,
};
