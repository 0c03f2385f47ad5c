import { describe, expect, it } from 'vitest'
import { createAddressRule, createNamedRule, DENIED_CIDRS } from '../../../../api/shared/network/addresses.ts'

const PUBLIC = `
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.254 100.128.0.1 126.255.255.255 128.0.0.0 168.63.129.15
  169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
  223.255.255.255 2606:4700:4700::1111 2a00:1450:4001:81b::200e ::ffff:8.8.8.8 ::ffff:808:808`

const PRIVATE = `
  0.0.0.0 0.1.2.3 10.0.0.0 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.1 127.255.255.255
  168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.31.196.1
  192.52.193.1 192.88.99.1 192.168.0.0 192.168.255.255 192.175.48.1 198.18.0.0 198.19.255.255 198.51.100.1
  203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::127.0.0.1 ::2:3
  ::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::ffff:0:127.0.0.1 64:ff9b::127.0.0.1
  64:ff9b::808:808 64:ff9b:1::7f00:1 100::1 100:0:0:1::1 2001::1 2001:1::1 2001:2::1 2001:3::1 2001:10::1 2001:20::1
  2001:db8::1 2002:7f00:1:: 2002:808:808::1 2620:4f:8000::1 3fff::1 4000::1 5f00::1 fc00::1 fd00::1 fd00:ec2::254
  fe80::1 fe80::1%eth0 fec0::1 ff02::1 ff0e::1`

const words = (text: string) => text.trim().split(/\s+/)

describe('createAddressRule', () => {
  const isAllowed = createAddressRule([])

  it.each(words(PUBLIC))('allows the public address %s', (address) => {
    expect(isAllowed(address)).toBe(true)
  })

  it.each(words(PRIVATE))('refuses %s', (address) => {
    expect(isAllowed(address)).toBe(false)
  })

  it.each(['', 'localhost', '1.2.3.4.5', '256.1.1.1', '::g', '10.0.0.1/8', ' 8.8.8.8'])(
    'refuses %j, which is not an address',
    (text) => {
      expect(isAllowed(text)).toBe(false)
    },
  )

  it('allows only the ranges that an operator names', () => {
    const isAllowedToo = createAddressRule(['10.1.0.0/16', '127.0.0.1/32', 'fd00:1::/32', '64:ff9b::/96'])
    const inside = [
      '10.1.0.0',
      '10.1.255.255',
      '127.0.0.1',
      '::ffff:10.1.2.3',
      'fd00:1::5',
      '64:ff9b::a00:1',
      '8.8.8.8',
    ]
    const outside = ['10.0.255.255', '10.2.0.0', '127.0.0.2', '::ffff:10.2.0.1', 'fd00:2::5', '::1', '192.168.0.1']
    expect(inside.filter((address) => !isAllowedToo(address))).toEqual([])
    expect(outside.filter(isAllowedToo)).toEqual([])
  })

  it.each(
    words(`
    169.254.169.254 169.254.170.2 ::ffff:169.254.169.254 168.63.129.16 100.100.100.200 192.0.0.192 fe80::1 fd00:ec2::254
    fd00:ec2::23 fd20:ce::254 64:ff9b::a9fe:a9fe`),
  )('refuses the metadata address %s whatever ranges are allowed', (address) => {
    const everything = ['0.0.0.0/0', '::/0', ...DENIED_CIDRS]
    expect(createAddressRule(everything)(address)).toBe(false)
    expect(createNamedRule(everything)(address)).toBe(false)
    expect(createAddressRule(everything)('10.0.0.1')).toBe(true)
  })

  it.each(['10.1.0.0', '10.1.0.0/33', 'office', ''])('rejects %j as a range', (text) => {
    expect(() => createAddressRule([text])).toThrow(/CIDR range/)
  })
})
