// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
)

// network brings up the loopback and a bridge to which containers will be linked.
func (s *server) network() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("set up the box's network: %w", err)
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written
	if err := up(fd, "lo"); err != nil {
		return err
	}
	if err := addBridge(fd, s.settings.Bridge); err != nil {
		return err
	}
	if err := setHardwareAddress(fd, s.settings.Bridge, box.HardwareAddress(s.settings.Address)); err != nil {
		return err
	}
	if err := setAddress(fd, s.settings.Bridge, s.settings.Address); err != nil {
		return err
	}
	for i, alias := range s.settings.Aliases {
		if err := setAddress(fd, "lo:"+strconv.Itoa(i+1), netip.PrefixFrom(alias, alias.BitLen())); err != nil {
			return err
		}
	}
	if err := up(fd, s.settings.Bridge); err != nil {
		return err
	}
	// This is the box's own setting, as all below net are.
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1\n"), 0o600); err != nil {
		return fmt.Errorf("let the box forward packets: %w", err)
	}
	return nil
}

func addBridge(fd int, name string) error {
	bytes, err := unix.BytePtrFromString(name)
	if err != nil {
		return fmt.Errorf("make bridge %s: %w", name, err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCBRADDBR, uintptr(unsafe.Pointer(bytes))); errno != 0 { //nolint:gosec // the ioctl takes a name
		return fmt.Errorf("make bridge %s (does the kernel have bridges?): %w", name, errno)
	}
	return nil
}

// setHardwareAddress keeps a bridge's address as it is. One that is not set is the lowest of its links' addresses: it
// changes as containers come and go, and those that are there send to the old one for half a minute.
func setHardwareAddress(fd int, link string, address net.HardwareAddr) error {
	// As netdevice(7) has it.
	request := struct {
		name    [unix.IFNAMSIZ]byte
		family  uint16
		address [14]byte
		_       [8]byte
	}{family: unix.ARPHRD_ETHER}
	copy(request.name[:unix.IFNAMSIZ-1], link)
	copy(request.address[:], address)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFHWADDR, uintptr(unsafe.Pointer(&request))); errno != 0 { //nolint:gosec // the ioctl takes a struct
		return fmt.Errorf("give %s the address %s: %w", link, address, errno)
	}
	return nil
}

func setAddress(fd int, link string, address netip.Prefix) error {
	ip := address.Addr().As4()
	mask := netip.PrefixFrom(netip.AddrFrom4([4]byte{255, 255, 255, 255}), address.Bits()).Masked().Addr().As4()
	for _, step := range []struct {
		request uint
		value   [4]byte
	}{{unix.SIOCSIFADDR, ip}, {unix.SIOCSIFNETMASK, mask}} {
		request, err := unix.NewIfreq(link)
		if err != nil {
			return fmt.Errorf("give %s the address %s: %w", link, address, err)
		}
		if err := request.SetInet4Addr(step.value[:]); err != nil {
			return fmt.Errorf("give %s the address %s: %w", link, address, err)
		}
		if err := unix.IoctlIfreq(fd, step.request, request); err != nil {
			return fmt.Errorf("give %s the address %s: %w", link, address, err)
		}
	}
	return nil
}

func up(fd int, link string) error {
	request, err := unix.NewIfreq(link)
	if err != nil {
		return fmt.Errorf("bring up %s: %w", link, err)
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("bring up %s: %w", link, err)
	}
	return nil
}
