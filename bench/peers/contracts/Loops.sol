// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// Two loops that a block may be full of.
contract Loops {
    mapping(uint256 => uint256) private values;
    bytes32 public last;

    /// Reads and writes so many entries of a mapping.
    function store(uint256 first, uint256 count) external {
        for (uint256 at = first; at < first + count; at++) values[at] += at + 1;
    }

    /// A chain of hashes of 64 bytes.
    function chain(uint256 count) external {
        bytes32 link = last;
        for (uint256 at = 0; at < count; at++) link = keccak256(abi.encode(link, at));
        last = link;
    }
}
