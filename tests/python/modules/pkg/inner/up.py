from ...pkg import VERSION
