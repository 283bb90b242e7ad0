/**
 * Formats a local time as Python's `strftime` does in the C locale.
 *
 * @throws RangeError for a directive that isn't known.
 */
export function formatDate(date: Date, format: string): string {
  return format.replaceAll(DIRECTIVE, (directive) => {
    const write = DIRECTIVES.get(directive);
    if (!write) throw new RangeError(`the date directive ${directive} isn't known`);
    return write(date);
  });
}

/** The first directive that isn't known. */
export function unknownDirective(format: string): string | undefined {
  return format.match(DIRECTIVE)?.find((directive) => !DIRECTIVES.has(directive));
}

const DIRECTIVE = /%[-_0^#]?(?:[^]|$)/gu;

const hour12 = (date: Date) => date.getHours() % 12 || 12;

const DIRECTIVES: ReadonlyMap<string, (date: Date) => string> = new Map([
  ['%a', inEnglish({ weekday: 'short' })],
  ['%A', inEnglish({ weekday: 'long' })],
  ['%b', inEnglish({ month: 'short' })],
  ['%B', inEnglish({ month: 'long' })],
  ['%d', (date: Date) => twoDigits(date.getDate())],
  ['%-d', (date: Date) => String(date.getDate())],
  ['%e', (date: Date) => String(date.getDate()).padStart(2)],
  ['%F', (date: Date) => formatDate(date, '%Y-%m-%d')],
  ['%H', (date: Date) => twoDigits(date.getHours())],
  ['%-H', (date: Date) => String(date.getHours())],
  ['%I', (date: Date) => twoDigits(hour12(date))],
  ['%-I', (date: Date) => String(hour12(date))],
  ['%j', (date: Date) => String(dayOfYear(date)).padStart(3, '0')],
  ['%m', (date: Date) => twoDigits(date.getMonth() + 1)],
  ['%-m', (date: Date) => String(date.getMonth() + 1)],
  ['%M', (date: Date) => twoDigits(date.getMinutes())],
  ['%R', (date: Date) => formatDate(date, '%H:%M')],
  ['%S', (date: Date) => twoDigits(date.getSeconds())],
  ['%T', (date: Date) => formatDate(date, '%H:%M:%S')],
  ['%Y', (date: Date) => String(date.getFullYear())],
  ['%y', (date: Date) => twoDigits(date.getFullYear() % 100)],
  ['%p', (date: Date) => (date.getHours() < 12 ? 'AM' : 'PM')],
  ['%u', (date: Date) => String(date.getDay() || 7)],
  ['%w', (date: Date) => String(date.getDay())],
  ['%z', () => ''],
  ['%Z', () => ''],
  ['%%', () => '%'],
]);

/** Counted in UTC, whose days all have the same length. */
function dayOfYear(date: Date): number {
  const midnight = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate());
  return (midnight - Date.UTC(date.getFullYear(), 0, 0)) / 86_400_000;
}

function inEnglish(options: Intl.DateTimeFormatOptions): (date: Date) => string {
  const format = new Intl.DateTimeFormat('en-US', options);
  return (date) => format.format(date);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
